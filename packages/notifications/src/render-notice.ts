import { formatAmount } from './format-amount.ts';
import { formatRemaining } from './format-remaining.ts';
import type { Notice } from './notice.ts';

export type NoticeContent = Pick<
  Notice,
  'stage' | 'locale' | 'activityName' | 'quantity' | 'amountMinor' | 'currency' | 'remainingMs' | 'orderId'
> & {
  /** Where the buyer pays. */
  readonly payLink: string;
};

export interface RenderedNotice {
  readonly subject: string;
  readonly text: string;
}

/**
 * A notice in the buyer's language: Chinese for `zh…`, English for everything else. Plain text; a channel
 * that shows HTML must escape it. A notice of closing says nothing of money that came: a payment may arrive late, or
 * with another amount, and is then settled by itself.
 */
export function renderNotice(content: NoticeContent): RenderedNotice {
  return /^zh(?![a-z])/i.test(content.locale) ? renderChinese(content) : renderEnglish(content);
}

function renderEnglish(content: NoticeContent): RenderedNotice {
  const { activityName, quantity, orderId, payLink } = content;
  const amount = formatAmount('en', content.amountMinor, content.currency);
  const places = quantity === 1 ? '1 place' : `${quantity} places`;
  if (content.stage === 'REMINDER') {
    const remaining = formatRemaining('en', content.remainingMs);
    const when = remaining ? `in ${remaining}` : 'now';
    return {
      subject: `Your order for ${activityName} closes ${when}`,
      text: lines(
        `Your order for ${activityName} (${places}, ${amount}) is not paid yet. It closes ${when}; its places then go back on sale.`,
        `Pay here: ${payLink}`,
        `Order: ${orderId}`,
      ),
    };
  }
  return {
    subject: `Your order for ${activityName} was closed`,
    text: lines(
      `Your order for ${activityName} (${places}, ${amount}) was closed because it was not paid in time.`,
      `${quantity === 1 ? 'The place is' : 'The places are'} back on sale: order again if you still want to come. If you were charged all the same, write to us with the number of the order.`,
      `Order: ${orderId}`,
    ),
  };
}

function renderChinese(content: NoticeContent): RenderedNotice {
  const { activityName, quantity, orderId, payLink } = content;
  const amount = formatAmount('zh-CN', content.amountMinor, content.currency);
  if (content.stage === 'REMINDER') {
    const remaining = formatRemaining('zh-CN', content.remainingMs);
    const when = remaining ? `将在${remaining}后关闭` : '即将关闭';
    return {
      subject: `您的“${activityName}”订单${when}`,
      text: lines(
        `您的“${activityName}”订单（${quantity} 张，${amount}）尚未支付，${when}，届时名额将重新开放销售。`,
        `立即支付：${payLink}`,
        `订单号：${orderId}`,
      ),
    };
  }
  return {
    subject: `您的“${activityName}”订单已关闭`,
    text: lines(
      `您的“${activityName}”订单（${quantity} 张，${amount}）因未在规定时间内支付，已自动关闭。`,
      '名额已重新开放销售，如仍需要，请重新下单。如果您仍被扣款，请凭订单号与我们联系。',
      `订单号：${orderId}`,
    ),
  };
}

function lines(...texts: string[]): string {
  return texts.join('\n');
}
