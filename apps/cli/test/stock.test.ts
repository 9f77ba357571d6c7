import { activityList, activityView } from '@lapse/contracts';
import type { Activity } from '@lapse/order-repository';
import { openActivity, openShop, placeOrders, readStock, type Shop } from '@lapse/test-shop';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommandLine } from '../src/run-command-line.ts';
import { activityShowShape } from '../src/shapes/activity.ts';
import { auditShape } from '../src/shapes/audit.ts';
import { changeShape, refusedShape } from '../src/shapes/change.ts';
import { applied, type Cli, envOf, openCli } from './cli.ts';

let shop: Shop;
let cli: Cli;
let activity: Activity;
beforeAll(async () => {
  shop = await openShop();
  cli = openCli(envOf(shop));
  activity = await openActivity(shop, 10);
});
afterAll(() => shop?.close());

const ahead = { remindInMs: 60_000, expireInMs: 120_000 };

test('an activity is created, sells at once, and is listed; a field that is wrong is named as it is typed', async () => {
  const terms = ['--name', '晚间演出', '--capacity', '5', '--price-minor', '8800', '--currency', 'CNY'];
  const dry = await cli.json(changeShape, 'activity', 'create', ...terms);
  expect(dry.data.outcome).toBe('would_do');
  const made = await cli.json(
    changeShape,
    'activity',
    'create',
    ...terms,
    '--pay-within-ms',
    '20m',
    ...applied,
  );
  const view = activityView.parse(made.data.result);
  expect(view).toMatchObject({ name: '晚间演出', capacity: 5, payWithinMs: 1_200_000 });
  expect(await readStock(shop, view.id)).toEqual({ mysql: 5, redis: 5, held: 0 });
  const { data } = await cli.json(activityList, 'activity', 'list');
  expect(data.activities.map(({ id }) => id)).toContain(view.id);
  const wrong = await cli.run('activity', 'create', ...terms, '--quantity-max', '0', ...applied);
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('--quantity-max')]);
});

test('capacity: changed in both stores while it sells, never below what is held and sold', async () => {
  await placeOrders(shop, activity, 3, ahead);
  const below = await cli.json(refusedShape, 'activity', 'capacity', `${activity.id}`, '2', ...applied);
  expect([below.code, below.data.problem]).toMatchObject([1, { code: 'CAPACITY_BELOW_SOLD', taken: 3 }]);
  const changed = await cli.json(changeShape, 'activity', 'capacity', `${activity.id}`, '12', ...applied);
  expect(changed.data.result).toMatchObject({ capacity: 12, available: 9 });
  const shown = await cli.json(activityShowShape, 'activity', 'show', `${activity.id}`);
  const places = { free: 9, held: 3, sold: 0, generation: expect.any(Number) };
  expect(shown.data).toMatchObject({ mysql: places, redis: places, agree: true });
});

test('an archived activity is shown as such, and is neither changed nor loaded', async () => {
  const old = await openActivity(shop, 5);
  await shop.query('UPDATE activity SET archived_at = NOW(3), stock_run_id = NULL WHERE id = ?', [old.id]);
  await shop.stock.forget(old.id);
  for (const command of [
    ['activity', 'capacity', `${old.id}`, '9'],
    ['activity', 'capacity', `${old.id}`, '9', ...applied],
    ['activity', 'pause', `${old.id}`, ...applied],
    ['stock', 'rebuild', `${old.id}`, ...applied],
    ['audit', '--activity', `${old.id}`],
  ]) {
    const refused = await cli.json(refusedShape, ...command);
    expect([command, refused.data.problem.code]).toEqual([command, 'ACTIVITY_ARCHIVED']);
  }
  expect(await shop.stock.readLoad(old.id)).toBeNull();
  expect((await cli.run('activity', 'show', `${old.id}`)).out).toContain('Archived ');
  const { data } = await cli.json(activityList, 'activity', 'list');
  expect(data.activities.map(({ id }) => id)).not.toContain(old.id);
});

test('audit: exit code 0 where the stores agree; drift is named with exit code 1, and healed only when asked', async () => {
  const only = ['audit', '--activity', `${activity.id}`];
  expect(await cli.json(auditShape, ...only)).toMatchObject({ code: 0, data: { findings: [] } });
  await shop.redisCommand('incrby', `activity:{${activity.id}}:stock`, 2);
  const found = await cli.json(auditShape, ...only);
  expect(found).toMatchObject({ code: 1, data: { healed: false, findings: [{ kind: 'counter_off' }] } });
  expect((await readStock(shop, activity.id)).redis).toBe(11);
  expect((await cli.run(...only, '--heal')).code).toBe(2);
  const healed = await cli.json(auditShape, ...only, '--heal', '--reason', 'of the test');
  expect(healed).toMatchObject({ code: 0, data: { healed: true } });
  expect((await readStock(shop, activity.id)).redis).toBe(9);
  const noted = await shop.query("SELECT reason FROM operator_action WHERE action = 'stock.heal'");
  expect(noted).toEqual([{ reason: 'of the test' }]);
});

test('long work draws a bar on a terminal, and nothing in a pipe', async () => {
  const drawn = async (isTTY: boolean): Promise<string> => {
    const parts: string[] = [];
    const err = { isTTY, write: (text: string) => void parts.push(text) };
    const io = { env: envOf(shop), out: { write: () => undefined }, err };
    await runCommandLine(['audit'], { ...io, signal: new AbortController().signal });
    return parts.join('');
  };
  expect(await drawn(true)).toMatch(/\[#*\.+\] +\d+% {2}comparing activity/);
  expect(await drawn(false)).toBe('');
});

test('stock rebuild: a stock that Redis lost is loaded from MySQL, and the trail says who asked', async () => {
  await shop.flushRedis();
  const shown = await cli.json(activityShowShape, 'activity', 'show', `${activity.id}`);
  expect(shown.data).toMatchObject({ redis: null, agree: false });
  expect((await cli.json(changeShape, 'stock', 'rebuild', `${activity.id}`)).data.outcome).toBe('would_do');
  expect((await readStock(shop, activity.id)).redis).toBe(-1);
  const rebuilt = await cli.json(changeShape, 'stock', 'rebuild', `${activity.id}`, ...applied);
  expect([rebuilt.code, rebuilt.data.outcome]).toEqual([0, 'done']);
  expect(await readStock(shop, activity.id)).toEqual({ mysql: 9, redis: 9, held: 3 });
  const noted = await shop.query("SELECT reason FROM operator_action WHERE action = 'stock.rebuild'");
  expect(noted).toEqual([{ reason: 'of the test' }]);
});
