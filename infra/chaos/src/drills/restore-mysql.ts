import { join } from 'node:path';
import { sleep } from '@lapse/runtime';
import { rootDir } from '@lapse/stack';
import { queryDatabase, waitUntil } from '@lapse/testing';
import { newEventId } from '../api-client.ts';
import { awaitReady } from '../outages/await-ready.ts';
import { readProvider } from '../read-provider.ts';
import { awaitOrder } from './await-order.ts';
import { backUpMysql, restoreMysql } from './backup-mysql.ts';
import { chooseCaptures } from './choose-captures.ts';
import type { Drill, DrillParts } from './drill.ts';
import { drillWorld } from './drill-world.ts';
import { beginToPay } from './refund-at-provider.ts';

const readyWithinMs = 120_000;
const foundWithinMs = 120_000;
const refundsWithinMs = 90_000;

/**
 * MySQL is put back to what it was some time ago, under a sale. Orders sold since are gone, which nothing can undo: the
 * money that was taken for them is found at the provider, told to the shop once more, and goes back. Of an order whose
 * payment had begun by then the settler asks by itself: its money went back meanwhile, and must not pay it.
 */
export const restoreFromBackup: Drill = async (parts) => {
  const { world, backupAgeSeconds, signal, say, lapse, activityId } = parts;
  const { mysqlUrl } = world.services;
  const file = join(rootDir, drillWorld.folder, 'backup.sql');
  const beingPaid = await beginToPay(parts);
  const backedUpAt = Date.now();
  const bytes = await backUpMysql(mysqlUrl, file);
  say(`a backup of MySQL is taken while the sale goes on: ${(bytes / 1_000_000).toFixed(1)} MB`);
  await beingPaid.payAndRefund();
  await sleep(backupAgeSeconds * 1_000, signal);
  for (const { kept } of world.apps) await kept.holdDownUntilGone();
  say(`${backupAgeSeconds} s later every process is stopped`);
  const restoredAt = Date.now();
  await restoreMysql(mysqlUrl, file);
  say('MySQL is restored from the backup');
  for (const { kept } of world.apps) kept.release();
  await awaitReady(world.apps, AbortSignal.any([signal, AbortSignal.timeout(readyWithinMs)]));
  say('every process is started again, and ready');
  await awaitOrder(parts, 'after that');
  const found = 'SELECT COUNT(*) AS n FROM audit_finding WHERE activity_id = ?';
  await waitUntil(async () => Number((await queryDatabase(mysqlUrl, found, [activityId]))[0]?.n) > 0, {
    ...{ what: 'the audit to find what Redis has and MySQL has no more', timeoutMs: foundWithinMs },
  });
  say('the audit has found what Redis has and MySQL has no more');
  await lapse('findings');
  await lapse('audit');
  await beingPaid.sayWhatBecame();
  await forgetLost(parts, backedUpAt, restoredAt);
  await tellPayments(parts);
};

/** Orders that were promised since the backup and are in no store: said, and taken out of what is judged at the end. */
async function forgetLost(
  { world, ledger, say }: DrillParts,
  backedUpAt: number,
  restoredAt: number,
): Promise<void> {
  const rows = await queryDatabase(
    world.services.mysqlUrl,
    `SELECT LOWER(CONCAT_WS('-', SUBSTR(HEX(id), 1, 8), SUBSTR(HEX(id), 9, 4), SUBSTR(HEX(id), 13, 4),
       SUBSTR(HEX(id), 17, 4), SUBSTR(HEX(id), 21))) AS id FROM orders`,
  );
  const known = new Set(rows.map(({ id }) => String(id)));
  let lost = 0;
  for (const { orders } of ledger.purchases) {
    for (const [id, { createdAt }] of orders) {
      const at = Date.parse(createdAt);
      if (known.has(id) || at < backedUpAt || at > restoredAt) continue;
      orders.delete(id);
      lost += 1;
    }
  }
  say(`${lost} orders that were sold since the backup are gone: their buyers have an id that nobody knows`);
}

/**
 * As a provider does when it is asked to send its events once more: each capture that MySQL does not know, but those that
 * went back meanwhile. Of these no row is left to judge.
 */
async function tellPayments({ world, api, ledger, say }: DrillParts): Promise<void> {
  const { mysqlUrl } = world.services;
  const provider = await readProvider(world.providerUrl, world.secrets.simulatorKey);
  const rows = await queryDatabase(mysqlUrl, 'SELECT CONVERT(payment_id USING utf8mb4) AS id FROM payment');
  const { toTell, paidBack } = chooseCaptures(provider, new Set(rows.map(({ id }) => String(id))));
  for (const { paymentId } of paidBack) ledger.paidBackUnknown.add(paymentId);
  const outcomes = new Map<string, number>();
  for (const { paymentId, orderId, amountMinor, currency, providerRef } of toTell) {
    const answer = await api.sendEvent(newEventId(), {
      type: 'payment.captured',
      timestamp: new Date().toISOString(),
      data: { paymentId, orderId, amountMinor, currency, providerRef },
    });
    const outcome = answer.kind === 'ok' ? (answer.body as { outcome: string }).outcome : answer.kind;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  const told = [...outcomes].map(([outcome, count]) => `${outcome} ${count}`).join(', ') || 'none';
  say(
    `captures at the provider that MySQL does not know, told once more: ${told}; not told, for they went back: ${paidBack.length}`,
  );
  const open = "SELECT COUNT(*) AS n FROM payment WHERE state IN ('WAITING', 'REFUND_PENDING')";
  await waitUntil(async () => Number((await queryDatabase(mysqlUrl, open))[0]?.n) === 0, {
    ...{ what: 'what has no order to be paid back', timeoutMs: refundsWithinMs },
  });
  say('all of that is decided: kept for its order, or paid back');
}
