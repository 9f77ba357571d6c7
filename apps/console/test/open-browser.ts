import { findChromium } from '@lapse/local-services';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** Above what a busy machine takes, and far below a test's own limit: the failure then names the step. */
const actionTimeoutMs = 15_000;

/** There is no browser to test with. */
class BrowserMissingError extends Error {
  readonly code = 'LAPSE_TEST_BROWSER_MISSING';
  override readonly name = 'BrowserMissingError';
}

/** The system's own Chromium. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    throw new BrowserMissingError(
      'The tests of the page need Chromium. On Debian: apt-get install chromium; elsewhere install Chrome.',
    );
  }
  // As root there is no sandbox to be had.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

/** A browser of another person: own cookies, own storage. Whatever the page itself gets wrong fails the test. */
export async function openVisitor(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ page: Page; faults: string[]; close: () => Promise<void> }> {
  const context = await browser.newContext({ locale: 'en-GB', ...options });
  context.setDefaultTimeout(actionTimeoutMs);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    // A refusal that the page shows is logged by the browser as well.
    const isRefusal = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isRefusal) faults.push(message.text());
  });
  return { page, faults, close: () => context.close() };
}
