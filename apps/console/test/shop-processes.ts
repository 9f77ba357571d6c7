import { randomBytes } from 'node:crypto';
import { openProcesses, type ShopProcesses as Processes, portIn } from '@lapse/test-shop';
import type { SpawnedApp } from '@lapse/testing';

/** A whole shop of real processes, and the page in front. */
export interface ShopProcesses extends Processes {
  readonly pageUrl: string;
  readonly page: SpawnedApp;
}

export async function startShop(change: Record<string, string> = {}): Promise<ShopProcesses> {
  const processes = await openProcesses();
  const page = await processes.start('console', {
    ...processes.env,
    LAPSE_CONSOLE_PORT: '0',
    LAPSE_CONSOLE_PRODUCER_URL: processes.apiUrl,
    LAPSE_CONSOLE_COOKIE_SECRET: randomBytes(32).toString('base64url'),
    LAPSE_CONSOLE_GUESTS: 'true',
    ...change,
  });
  return { ...processes, page, pageUrl: `http://127.0.0.1:${portIn(page, 'page listens')}` };
}
