import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { queryDatabase, waitUntil } from '@lapse/testing';
import { awaitSteady } from '../outages/measure-outage.ts';
import type { Drill } from './drill.ts';

/** Where the broker keeps messages, timers, topics, groups and how far each group has read. */
const storeFolder = 'store';
const sweptWithinMs = 90_000;

/** Every message is gone, and every topic. The sweep closes what was due; the topics are made anew by hand. */
export const loseBroker: Drill = async ({ world, signal, say, lapse }) => {
  const { kept, rocketmqDir, mysqlUrl } = world.services;
  const startsAt = new Date();
  await kept.rocketmq.holdDownUntilGone('broker');
  rmSync(join(rocketmqDir, storeFolder), { recursive: true, force: true });
  say('the broker is killed, and its store is deleted');
  kept.rocketmq.release();
  await waitUntil(() => kept.rocketmq.service.state === 'running', {
    ...{ what: 'the broker to start', timeoutMs: sweptWithinMs },
  });
  say('a broker without any topic or message is started in its place');
  await lapse('doctor');
  await lapse('topics', 'apply');
  await awaitSteady(world, signal);
  say('orders close on time by their messages again');
  const sql = `SELECT COUNT(*) AS n FROM orders WHERE created_at < ? AND status = 'PENDING'`;
  await waitUntil(async () => Number((await queryDatabase(mysqlUrl, sql, [startsAt]))[0]?.n) === 0, {
    ...{ what: 'the orders of before to end', timeoutMs: sweptWithinMs },
  });
  const [swept] = await queryDatabase(
    mysqlUrl,
    `SELECT COUNT(*) AS n, MAX(TIMESTAMPDIFF(MICROSECOND, o.expires_at, t.at)) / 1000000 AS late
     FROM orders o JOIN order_transition t ON t.order_id = o.id AND t.to_status = 'TIMEOUT_CLOSED'
     WHERE t.cause = 'sweep' AND t.at >= ?`,
    [startsAt],
  );
  say(`the sweep closed ${swept?.n} orders, ${Number(swept?.late ?? 0).toFixed(1)} s late at most`);
  await lapse('audit');
};
