import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { stagedKeys, stockKeys } from '../src/stock-keys.ts';
import { emptySnapshot, idOf, loadOver, openTestStock, type TestStock } from './open-test-stock.ts';

let own: TestStock;
let activityId = 0;

beforeAll(async () => {
  own = await openTestStock();
});
afterAll(() => own.close());
/** Ten places free, generation 1. */
beforeEach(async () => {
  activityId += 1;
  await loadOver(own.stock, emptySnapshot(activityId, 10));
});

type Script = 'reserve' | 'release' | 'reacquire' | 'set-capacity' | 'swap-in';
/** The real script, as it is or without its guard. */
type Run = (...argv: string[]) => Promise<unknown>;

/** A part of a script, and what stands there when it is gone. */
type Cut = readonly [guard: string, instead: string];

interface Control {
  readonly guard: string;
  readonly script: Script;
  readonly cut: Cut;
  /** Guards behind this one, which would hide that it is gone: off in both runs. */
  readonly alsoCut?: Cut;
  /** @returns what the guard decides. */
  readonly play: (run: Run) => Promise<unknown>;
  readonly holds: unknown;
  readonly without: unknown;
}

const o1 = idOf('o1');

/** What the keys add up to: the capacity of ten, or something went wrong. */
async function units(): Promise<number> {
  const { stock = 0, held = 0, sold = 0 } = (await own.stock.readCounts(activityId)) ?? {};
  return stock + held + sold;
}

function reserve(orderId: string, quantity = 2) {
  const stockRunId = own.runIdOf(activityId);
  return own.stock.reserve({ activityId, generation: 1, stockRunId, orderId, userId: orderId, quantity });
}

const controls: readonly Control[] = [
  {
    guard: 'release: only what is held is given back',
    script: 'release',
    cut: ["if state == 'h' then", 'if true then'],
    play: async (run) => {
      await reserve(o1);
      for (let delivery = 0; delivery < 3; delivery += 1) await run(o1);
      return units();
    },
    holds: 10,
    without: 14,
  },
  {
    guard: 'reserve: the generation must be that of the keys',
    script: 'reserve',
    cut: ["redis.call('GET', KEYS[4]) ~= ARGV[1] or ", ''],
    play: (run) => run('2', o1, 'ann', '1', '7'),
    holds: ['not_ready'],
    without: ['reserved'],
  },
  {
    guard: 'reserve: a counter is one that DECRBY can write',
    script: 'reserve',
    cut: ['return whole and tonumber(text)', 'return tonumber(text)'],
    play: async (run) => {
      await own.redis.set(stockKeys(activityId).stock, '12.5');
      return run('1', o1, 'ann', '1', '7').catch((error: Error) => /not an integer/.test(error.message));
    },
    holds: ['not_ready'],
    without: true,
  },
  {
    guard: 'reserve: an order that was given back never holds again',
    script: 'reserve',
    cut: ['local hold = known[i] or ', 'local hold = '],
    play: async (run) => {
      await own.stock.release(activityId, [o1]);
      return run('1', o1, 'ann', '1', '7');
    },
    holds: ['released'],
    without: ['reserved'],
  },
  {
    guard: 'reserve: an order that is twice in a call takes its units once',
    script: 'reserve',
    cut: ['known[i] or holds[order]', 'known[i]'],
    // Its own buyer is active by then, and would be refused.
    alsoCut: ['active[i] == 1 or holders[user]', 'active[i] == 1'],
    play: async (run) => {
      await run('1', o1, 'ann', '2', '7', o1, 'ann', '2', '7');
      return units();
    },
    holds: 10,
    without: 8,
  },
  {
    guard: 'reserve: one active order of a buyer',
    script: 'reserve',
    cut: ['active[i] == 1 or ', ''],
    play: async (run) => {
      await run('1', o1, 'ann', '1', '7');
      return run('1', idOf('o2'), 'ann', '1', '7');
    },
    holds: ['user_holds'],
    without: ['reserved'],
  },
  {
    guard: 'reserve: one active order of a buyer who is twice in a call',
    script: 'reserve',
    cut: ['active[i] == 1 or holders[user]', 'active[i] == 1'],
    play: (run) => run('1', o1, 'ann', '1', '7', idOf('o2'), 'ann', '1', '7'),
    holds: ['reserved', 'user_holds'],
    without: ['reserved', 'reserved'],
  },
  {
    guard: 'reserve: no more than is free',
    script: 'reserve',
    cut: ['elseif free - takenUnits < quantity then', 'elseif false then'],
    play: async (run) => {
      await run('1', o1, 'ann', '11', '7');
      return own.redis.get(stockKeys(activityId).stock);
    },
    holds: '10',
    without: '-1',
  },
  {
    guard: 'reserve: no more than those before it in the call have left',
    script: 'reserve',
    cut: ['free - takenUnits < quantity', 'free < quantity'],
    play: async (run) => {
      await run('1', o1, 'ann', '6', '7', idOf('o2'), 'bob', '6', '8');
      return own.redis.get(stockKeys(activityId).stock);
    },
    holds: '4',
    without: '-2',
  },
  {
    guard: 'reserve: a buyer whose order has ended is never taken for one who had none',
    script: 'reserve',
    cut: ["redis.call('SETBIT', KEYS[5], bit, 1)", ''],
    play: async (run) => {
      await run('1', o1, 'ann', '1', '7');
      await own.stock.release(activityId, [o1]);
      await run('1', idOf('o2'), 'bob', '10', '8');
      return run('1', idOf('o3'), 'ann', '1', '7');
    },
    holds: ['sold_out'],
    without: ['sold_out_newcomer'],
  },
  {
    guard: 'reserve: without a map of buyers anybody may have had an order',
    script: 'reserve',
    cut: ['local bit = bits > 0 and ', 'local bit = bits == 0 and 1 or '],
    play: async (run) => {
      await own.redis.del(stockKeys(activityId).seen);
      return run('1', o1, 'ann', '11', '7');
    },
    holds: ['sold_out'],
    without: ['sold_out_newcomer'],
  },
  {
    guard: 'reserve: no map is begun where there is none',
    script: 'reserve',
    cut: ['local bit = bits > 0 and ', 'local bit = bits == 0 and 1 or '],
    play: async (run) => {
      await own.redis.del(stockKeys(activityId).seen);
      await run('1', o1, 'ann', '1', '7');
      return own.redis.exists(stockKeys(activityId).seen);
    },
    holds: 0,
    without: 1,
  },
  {
    guard: 'reacquire: an order takes its places again once',
    script: 'reacquire',
    cut: ["elseif state ~= 's' and not sold[order] then", 'elseif not sold[order] then'],
    // Its own buyer is active by then, and would be refused.
    alsoCut: ['active[i] == 1 or ', ''],
    play: async (run) => {
      for (let time = 0; time < 2; time += 1) await run(o1, 'ann', '2');
      return units();
    },
    holds: 10,
    without: 8,
  },
  {
    guard: 'set-capacity: an older change that comes late is over',
    script: 'set-capacity',
    cut: ['if tonumber(old) >= version then', 'if false then'],
    play: async (run) => {
      await run('3', '30');
      await run('2', '5');
      return own.redis.get(stockKeys(activityId).stock);
    },
    holds: '30',
    without: '5',
  },
  {
    guard: 'swap-in: a load that another one overtook is refused',
    script: 'swap-in',
    cut: ["if (type(there) == 'string' and there or '') ~= ARGV[6] then", 'if false then'],
    play: async (run) => {
      const replaces = await own.stock.readLoadToken(activityId);
      await loadOver(own.stock, emptySnapshot(activityId, 7, 2));
      return run('2', '10', '0', '1:10', 'late', replaces, '0');
    },
    holds: -1,
    without: 1,
  },
  {
    guard: 'swap-in: a load without a map leaves none of another load',
    script: 'swap-in',
    cut: ["redis.call('UNLINK', KEYS[2], KEYS[3], KEYS[7])", "redis.call('UNLINK', KEYS[2], KEYS[3])"],
    play: async (run) => {
      await run('2', '10', '0', '1:10', 'late', await own.stock.readLoadToken(activityId), '0');
      return own.redis.exists(stockKeys(activityId).seen);
    },
    holds: 0,
    without: 1,
  },
  {
    guard: 'swap-in: a map that is not there whole is not taken',
    script: 'swap-in',
    cut: ["\n  or redis.call('STRLEN', KEYS[10]) ~= length", ''],
    play: async (run) => {
      await own.redis.setrange(stagedKeys(activityId, 'late').seen, 99, '1');
      return run('2', '10', '0', '1:10', 'late', await own.stock.readLoadToken(activityId), '1024');
    },
    holds: 0,
    without: 1,
  },
];

/** In the order in which the wrappers give them. */
function keysOf(script: Script): string[] {
  const { stock, users, holds, generation, capacity, load, seen } = stockKeys(activityId);
  if (script === 'set-capacity') return [stock, generation, capacity];
  if (script === 'reserve') return [stock, users, holds, generation, seen];
  if (script !== 'swap-in') return [stock, users, holds, generation];
  const staged = stagedKeys(activityId, 'late');
  const there = [stock, users, holds, generation, capacity, load, seen];
  return [...there, staged.users, staged.holds, staged.seen];
}

function runner(script: Script, cuts: readonly Cut[]): Run {
  const whole = readFileSync(new URL(`../lua/${script}.lua`, import.meta.url), 'utf8');
  const lua = cuts.reduce((text, [guard, instead]) => {
    expect(text).toContain(guard);
    return text.replace(guard, instead);
  }, whole);
  return (...argv) => {
    const keys = keysOf(script);
    return own.redis.eval(lua, keys.length, ...keys, ...argv);
  };
}

describe.each(controls)('$guard', ({ script, cut, alsoCut, play, holds, without }) => {
  const others = alsoCut === undefined ? [] : [alsoCut];

  it('holds', async () => {
    expect(await play(runner(script, others))).toEqual(holds);
  });

  it('negative control: without it, the same script does otherwise', async () => {
    expect(await play(runner(script, [...others, cut]))).toEqual(without);
  });
});
