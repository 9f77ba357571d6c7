import { createHash } from 'node:crypto';
import type { Attempt } from './books.ts';

const style = `body{font:16px/1.5 system-ui,sans-serif;max-width:28rem;margin:10vh auto;padding:0 1rem;color:#1a1a1a;background:#fff}
dl{display:grid;grid-template-columns:auto 1fr;gap:.25rem 1rem}dd{margin:0;overflow-wrap:anywhere}
button{font:inherit;padding:.6rem 1.2rem;margin-right:.5rem;border:1px solid #555;border-radius:.3rem;background:#fff;cursor:pointer}
button.pay{background:#0a5c36;color:#fff;border-color:#0a5c36}
@media(prefers-color-scheme:dark){body{background:#16181a;color:#eee}button{background:#2a2d30;color:#eee}}`;

/** The page's one style, for its content security policy. */
export const styleSource = `sha256-${createHash('sha256').update(style).digest('base64')}`;

const stateTexts = {
  open: 'Not paid yet.',
  processing: 'Paid; the bank has not answered yet. Reload the page.',
  captured: 'Paid. Thank you.',
  cancelled: 'This payment was cancelled. Nothing was charged.',
} as const;

export function renderPayPage({ terms, state, click }: Attempt): string {
  const { orderId, amountMinor, currency } = terms;
  const buttons = `<form method="post">
<button class="pay" name="outcome" value="succeed">Pay</button>
<button name="outcome" value="decline">Decline</button>
</form>`;
  return htmlPage(
    'Payment simulator',
    `<p role="status">${stateTexts[state]}</p>
<dl>
<dt>Order</dt><dd>${escapeHtml(orderId)}</dd>
<dt>Amount</dt><dd>${amountMinor} ${escapeHtml(currency)} in minor units</dd>
</dl>
${state === 'open' && !click ? buttons : ''}
<p><small>No money moves here: this stands in for a payment provider.</small></p>`,
  );
}

export function renderUnknownPage(): string {
  return htmlPage('No such payment', '<p>No such payment. Go back to the shop and begin again.</p>');
}

function htmlPage(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${content}
</main>
</body>
</html>
`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '');
}
