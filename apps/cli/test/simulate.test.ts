import { openProcesses, type ShopProcesses } from '@lapse/test-shop';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeShape } from '../src/shapes/change.ts';
import { simulateShape } from '../src/shapes/simulate.ts';
import { applied, type Cli, openCli } from './cli.ts';

let processes: ShopProcesses;
let cli: Cli;
beforeAll(async () => {
  processes = await openProcesses();
  cli = openCli(processes.env);
});
afterAll(() => processes?.close());

const small = ['simulate', '--buyers', '20', '--places', '12', '--rush', '1s'];
const short = ['--pay-within', '4s', '--remind-after', '2s'];

describe('a simulated sale', () => {
  test('is real: every order ends as its buyer made it, none early, and both stores agree', async () => {
    const shares = ['--pay', '50%', '--pay-late', '0%', '--cancel', '20%'];
    const { code, data } = await cli.json(simulateShape, ...small, ...short, ...shares, ...applied);
    expect(data).toMatchObject({
      buyers: 20,
      early: 0,
      agrees: true,
      unexpected: [],
      paidTooLate: 0,
      paidTooLateOrders: [],
    });
    expect(code).toBe(0);
    const { PAID = 0, TIMEOUT_CLOSED = 0, CANCELLED = 0, PENDING = 0 } = data.orders;
    // A buyer who comes after a cancel has a place too.
    expect(PAID + TIMEOUT_CLOSED + CANCELLED).toBeGreaterThanOrEqual(12);
    expect([PENDING, PAID > 0, TIMEOUT_CLOSED > 0, CANCELLED > 0]).toEqual([0, true, true, true]);
    expect(data.places).toEqual({ capacity: 12, free: 12 - PAID });
    expect(data.latenessMs?.p50).toBeGreaterThanOrEqual(0);
    const activity = await processes.shop.orders.readActivity(data.activityId);
    expect(activity?.name).toBe('A simulated sale');
  });

  test('is not played without --apply', async () => {
    const { data } = await cli.json(changeShape, ...small);
    expect(data.outcome).toBe('would_do');
  });

  test('is refused where real money would move, and with shares above the whole', async () => {
    const real = openCli({ ...processes.env, LAPSE_PAYMENT_PROVIDER: 'none' });
    expect(await real.run(...small, ...applied)).toMatchObject({
      code: 2,
      err: expect.stringContaining('takes no real money'),
    });
    expect(await cli.run(...small, '--pay', '70%', '--cancel', '40%')).toMatchObject({
      code: 2,
      err: expect.stringContaining('at most 100%'),
    });
  });
});
