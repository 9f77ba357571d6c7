import { randomUUID } from 'node:crypto';
import type { WorkerReport, WorkerWish } from '@lapse/contracts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DirectedWorker, StoredAnswer } from '../src/index.ts';
import { type Fixture, newWorkerReport, openFixture } from './fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await openFixture();
});
afterAll(() => fixture.close());

const asked = { dryRun: false, actor: 'boss', reason: 'a new release' };
const answer = ({ changes }: DirectedWorker): StoredAnswer => ({
  status: 200,
  body: Buffer.from(JSON.stringify({ changes })),
});

const report = (one: WorkerReport) => fixture.repository.reportWorker(one);
const find = async (id: string) => (await fixture.repository.listWorkers()).find((one) => one.id === id);
const direct = (id: string, wanted: WorkerWish, change: object = {}) =>
  fixture.repository.setWorkerWanted(id, wanted, { ...asked, ...change }, answer);
const heardAgo = (id: string, seconds: number) =>
  fixture.query('UPDATE worker SET heartbeat_at = NOW(3) - INTERVAL ? SECOND WHERE id = ?', [
    seconds,
    Buffer.from(id.replaceAll('-', ''), 'hex'),
  ]);
const countActions = async (id: string) =>
  (await fixture.query('SELECT action, reason FROM operator_action WHERE target = ?', [id])).length;

test('a process that reports is seen as it says, alive, and started when it did', async () => {
  const one = newWorkerReport();
  expect(await report(one)).toEqual({ wanted: 'RUN' });
  const { uptimeMs: _1, heartbeatMs: _2, ...said } = one;
  const seen = await find(one.id);
  expect(seen).toMatchObject({ ...said, alive: true });
  const startedAgo = (seen?.heartbeatAt.getTime() ?? 0) - (seen?.startedAt.getTime() ?? 0);
  expect(startedAgo).toBeGreaterThanOrEqual(2_000);
  expect(startedAgo).toBeLessThan(10_000);
  await report({ ...one, state: 'PAUSING', figures: { inHand: 1 } });
  expect(await find(one.id)).toMatchObject({ state: 'PAUSING', figures: { inHand: 1 } });
});

test('two reports in the same instant that say the same tell what is wanted all the same', async () => {
  const one = newWorkerReport();
  await report(one);
  await direct(one.id, 'PAUSE');
  const both = await Promise.all(Array.from({ length: 20 }, () => report(one)));
  expect(both.map(({ wanted }) => wanted)).toEqual(Array(20).fill('PAUSE'));
});

test('a process that reports for the first time, many times at once, is there once', async () => {
  const one = newWorkerReport();
  await Promise.all(Array.from({ length: 8 }, () => report(one)));
  expect((await fixture.repository.listWorkers()).filter(({ id }) => id === one.id)).toHaveLength(1);
});

test('three missed heartbeats make a process dead, by the database clock; a stop does at once', async () => {
  const [silent, stopped] = [newWorkerReport(), newWorkerReport()];
  for (const one of [silent, stopped]) await report(one);
  await heardAgo(silent.id, 14);
  expect((await find(silent.id))?.alive).toBe(true);
  await heardAgo(silent.id, 16);
  expect((await find(silent.id))?.alive).toBe(false);
  await report({ ...stopped, state: 'STOPPED' });
  expect(await find(stopped.id)).toMatchObject({ alive: false, state: 'STOPPED' });
  const seldom = newWorkerReport({ heartbeatMs: 60_000 });
  await report(seldom);
  await heardAgo(seldom.id, 170);
  expect((await find(seldom.id))?.alive).toBe(true);
});

test('a process dead for an hour is forgotten, and no other; one that comes back keeps its wish', async () => {
  const [dead, quiet] = [newWorkerReport({ wanted: 'PAUSE' }), newWorkerReport()];
  for (const one of [dead, quiet]) await report(one);
  await heardAgo(dead.id, 3_601);
  await heardAgo(quiet.id, 3_590);
  expect(await fixture.repository.forgetDeadWorkers()).toBe(1);
  expect([await find(dead.id), (await find(quiet.id))?.id]).toEqual([undefined, quiet.id]);
  expect(await report(dead)).toEqual({ wanted: 'PAUSE' });
  expect(await find(dead.id)).toMatchObject({ wanted: 'PAUSE', alive: true });
});

test('a wish is noted with who and why, once: what is wanted already changes nothing', async () => {
  const one = newWorkerReport();
  await report(one);
  expect(await direct(one.id, 'PAUSE')).toMatchObject({ kind: 'done', result: { changes: true } });
  expect(await direct(one.id, 'PAUSE')).toMatchObject({ kind: 'done', result: { changes: false } });
  expect(
    await fixture.query('SELECT action, target_kind, reason FROM operator_action WHERE target = ?', [one.id]),
  ).toEqual([{ action: 'worker.pause', target_kind: 'worker', reason: 'a new release' }]);
});

test('a dry run says what would be, changes nothing and uses up no key', async () => {
  const one = newWorkerReport();
  await report(one);
  const idempotency = { key: `dry-${one.id}`, requestHash: Buffer.alloc(32, 1) };
  const dry = await direct(one.id, 'PAUSE', { dryRun: true, idempotency });
  expect(dry).toMatchObject({ kind: 'done', result: { changes: true, worker: { wanted: 'RUN' } } });
  expect([(await report(one)).wanted, await countActions(one.id)]).toEqual(['RUN', 0]);
  expect(await direct(one.id, 'PAUSE', { idempotency })).toMatchObject({ kind: 'done' });
});

test('with one key many requests direct once, and all get the same bytes', async () => {
  const one = newWorkerReport();
  await report(one);
  const idempotency = { key: `once-${one.id}`, requestHash: Buffer.alloc(32, 2) };
  const all = await Promise.all(Array.from({ length: 8 }, () => direct(one.id, 'PAUSE', { idempotency })));
  expect(all.filter(({ kind }) => kind === 'done')).toHaveLength(1);
  const bodies = all.map((result) => ('answer' in result ? result.answer.body.toString() : result.kind));
  expect(new Set(bodies)).toEqual(new Set(['{"changes":true}']));
  expect(await countActions(one.id)).toBe(1);
});

test('a process that has stopped, or that nobody knows, is not directed', async () => {
  const one = newWorkerReport({ state: 'STOPPED' });
  await report(one);
  expect(await direct(one.id, 'PAUSE')).toMatchObject({ kind: 'refused', result: { kind: 'stopped' } });
  expect(await direct(randomUUID(), 'PAUSE')).toEqual({ kind: 'refused', result: { kind: 'not_found' } });
  // One that is merely not heard of may be back: it is directed.
  const silent = newWorkerReport();
  await report(silent);
  await heardAgo(silent.id, 1_000);
  expect(await direct(silent.id, 'PAUSE')).toMatchObject({ kind: 'done', result: { changes: true } });
  expect(await report(silent)).toEqual({ wanted: 'PAUSE' });
});

test('figures of a newer release hide no process', async () => {
  const one = newWorkerReport();
  await report(one);
  const set = (figures: string) =>
    fixture.query('UPDATE worker SET figures = ? WHERE id = ?', [
      figures,
      Buffer.from(one.id.replaceAll('-', ''), 'hex'),
    ]);
  await set('{"inHand":2,"unheardOf":1}');
  expect((await find(one.id))?.figures).toEqual({ inHand: 2 });
  await set('{"inHand":"many"}');
  expect((await find(one.id))?.figures).toEqual({});
});
