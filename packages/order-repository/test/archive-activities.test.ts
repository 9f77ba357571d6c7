import { v7 } from 'uuid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { archiveActivities } from '../src/archive-activities.ts';
import { createBusyActivities } from '../src/busy-activities.ts';
import { createOrders } from '../src/create-orders.ts';
import type { Activity, NewOrder, OrderRepository } from '../src/index.ts';
import { noteStockForgotten } from '../src/note-stock-forgotten.ts';
import { recordPayment } from '../src/record-payment.ts';
import { captureOf, collectLog, type Fixture, newOrder, noAnswer, openFixture } from './fixture.ts';
import { bytesOf, dayMs, openOldSale } from './old-sale.ts';
import { racing } from './racing.ts';
import { openUnguarded, type Removal, without } from './unguarded.ts';

const keep = { olderThanMs: 2 * dayMs, limit: 100, afterId: 0 };

let fixture: Fixture;
let repository: OrderRepository;
beforeAll(async () => {
  fixture = await openFixture();
  repository = fixture.repository;
});
afterAll(() => fixture?.close());

const oldSale = (options: Parameters<typeof openOldSale>[2] = {}) =>
  openOldSale(fixture, repository, options);
const archive = async (by = repository) => (await by.archiveActivities(keep)).archived;
const set = (id: number, what: string) => fixture.query(`UPDATE activity SET ${what} WHERE id = ?`, [id]);
const byHand = { actor: 'boss', reason: 'x' };

describe('a sale that is long over is archived', () => {
  it.each([
    ['it ended', 'sale_paused_at = NULL'],
    ['an operator paused it and never went on', 'sale_paused_at = sale_ends_at, sale_ends_at = NULL'],
  ])('%s', async (_why, what) => {
    const { activity } = await oldSale();
    await set(activity.id, what);
    expect(await archive()).toEqual([activity.id]);
    const archived = await repository.readActivity(activity.id);
    expect(archived?.archivedAt).toBeInstanceOf(Date);
    expect(archived?.generation).toBe(activity.generation + 2);
    expect(await archive()).toEqual([]);
  });

  it('every place is sold, and it has no end', async () => {
    const { activity } = await oldSale({ paid: 3, closed: 0, capacity: 6 });
    await set(activity.id, 'sale_ends_at = NULL');
    expect(await archive()).toEqual([activity.id]);
  });

  it('in pages, each a transaction of its own; a locked one is left to a later call, and nobody waits', async () => {
    const ids: number[] = [];
    for (let n = 0; n < 5; n += 1) ids.push((await oldSale({ paid: 1, closed: 0 })).activity.id);
    const lock = await fixture.lockActivity(ids[2] ?? 0);
    const startedAt = performance.now();
    const first = await repository.archiveActivities({ ...keep, limit: 3 });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    await lock.release();
    expect(first).toEqual({ archived: [ids[0], ids[1]], failures: [], next: ids[2] });
    expect(await repository.archiveActivities({ ...keep, limit: 3, afterId: ids[2] ?? 0 })).toEqual({
      archived: [ids[3], ids[4]],
      failures: [],
      next: null,
    });
    expect(await archive()).toEqual([ids[2]]);
  });

  it('one that fails stays and keeps nobody; after the third the next call goes on behind it', async () => {
    const ids: number[] = [];
    for (let n = 0; n < 5; n += 1) ids.push((await oldSale({ paid: 1, closed: 0 })).activity.id);
    const refuse = (bad: readonly (number | undefined)[]) =>
      fixture.query(
        `CREATE TRIGGER refuse BEFORE UPDATE ON activity FOR EACH ROW
         IF NEW.id IN (${bad.join()}) AND NEW.archived_at IS NOT NULL THEN SIGNAL SQLSTATE '45000'; END IF`,
      );
    const failed = (bad: readonly (number | undefined)[]) =>
      bad.map((activityId) => ({ activityId, error: expect.objectContaining({ errno: 1644 }) }));
    const bad = [ids[0], ids[1], ids[3]];
    await refuse(bad);
    const first = await repository.archiveActivities(keep);
    expect(first).toEqual({ archived: [ids[2]], failures: failed(bad), next: ids[3] });
    expect(await repository.archiveActivities({ ...keep, afterId: first.next ?? 0 })).toEqual({
      archived: [ids[4]],
      failures: [],
      next: null,
    });
    await fixture.query('DROP TRIGGER refuse');
    expect(await archive()).toEqual(bad);
  });

  it('two sweepers archive it once', async () => {
    const { activity } = await oldSale();
    const other = await fixture.openAnother();
    const [first, second] = await Promise.all([archive(), archive(other)]);
    expect([...first, ...second]).toEqual([activity.id]);
    expect((await repository.readActivity(activity.id))?.generation).toBe(activity.generation + 2);
  });
});

const withoutBeginning = without(
  'GREATEST(created_at, COALESCE(sale_starts_at, created_at)) <= NOW(3) - INTERVAL ? MICROSECOND',
  '(TRUE OR ? > 0)',
);

/** What keeps an activity, and the repository's SQL without the guard that sees it. */
const controls: readonly {
  readonly guard: string;
  readonly open: (activity: Activity, order: NewOrder) => Promise<unknown>;
  readonly removal: Removal;
}[] = [
  {
    guard: 'a sale that ended lately',
    open: ({ id }) => set(id, 'sale_ends_at = NOW(3) - INTERVAL 1 DAY'),
    removal: without('sale_ends_at <= NOW(3) - INTERVAL ? MICROSECOND', '(TRUE OR ? > 0)'),
  },
  {
    guard: 'an activity that was made lately',
    open: ({ id }) => set(id, 'created_at = NOW(3) - INTERVAL 1 DAY'),
    removal: withoutBeginning,
  },
  {
    guard: 'a paused sale that is still to begin',
    open: ({ id }) =>
      set(
        id,
        'sale_starts_at = NOW(3) + INTERVAL 7 DAY, sale_ends_at = NULL, sale_paused_at = NOW(3) - INTERVAL 3 DAY',
      ),
    removal: withoutBeginning,
  },
  {
    guard: 'a sold-out sale that is still to begin',
    open: ({ id }) =>
      set(
        id,
        'sale_starts_at = NOW(3) + INTERVAL 7 DAY, sale_ends_at = NULL, capacity = capacity - available, available = 0',
      ),
    removal: withoutBeginning,
  },
  {
    guard: 'a sale that a capacity of 0 has stopped',
    open: async ({ id }) => {
      await fixture.query('DELETE FROM orders WHERE activity_id = ?', [id]);
      await set(id, 'sale_ends_at = NULL, capacity = 0, available = 0');
    },
    removal: without(' AND capacity > 0'),
  },
  {
    guard: 'an order that is pending',
    open: ({ id }, order) =>
      fixture.query("UPDATE orders SET status = 'PENDING' WHERE id = ? AND activity_id = ?", [
        bytesOf(order.id),
        id,
      ]),
    removal: without("status = 'PENDING' OR"),
  },
  {
    guard: 'an order that was paid since',
    open: (_activity, order) =>
      fixture.query('UPDATE orders SET paid_at = NOW(3) - INTERVAL 1 DAY WHERE id = ?', [bytesOf(order.id)]),
    removal: without('paid_at > NOW(3) - INTERVAL ? MICROSECOND', '? < 0'),
  },
  {
    guard: 'a step that Redis is owed',
    open: ({ id }) =>
      fixture.query(
        "INSERT INTO effect (id, batch_id, kind, activity_id, order_ids) VALUES (?, ?, 'release', ?, '')",
        [bytesOf(v7()), bytesOf(v7()), id],
      ),
    removal: without('FROM effect WHERE', 'FROM effect WHERE FALSE AND'),
  },
  {
    guard: 'a finding that is not healed',
    open: ({ id }) =>
      fixture.query(
        `INSERT INTO audit_finding (id, at, activity_id, kind, action, detail)
         VALUES (?, NOW(3), ?, 'counter', 'rebuild', '{}')`,
        [bytesOf(v7()), id],
      ),
    removal: without('AND healed_at IS NULL', 'AND FALSE'),
  },
];

describe('what is open keeps its activity', () => {
  it.each(controls)('$guard; without the guard it would be archived', async ({ open, removal }) => {
    const { activity, paid } = await oldSale();
    const [order] = paid;
    if (!order) throw new Error('no order');
    await open(activity, order);
    expect(await archive()).toEqual([]);
    const unguarded = openUnguarded(fixture.url, [removal]);
    try {
      expect((await archiveActivities(unguarded, keep)).archived).toEqual([activity.id]);
      expect(unguarded.unmet()).toEqual([]);
    } finally {
      await unguarded.close();
      await fixture.query('DELETE FROM effect');
      await fixture.query('DELETE FROM audit_finding');
    }
  });

  it('a sale that goes on between the look and the lock stays; without the second look it would be archived', async () => {
    const { activity } = await oldSale();
    await set(activity.id, 'sale_paused_at = sale_ends_at, sale_ends_at = NULL');
    const run = async (removals: readonly Removal[]) => {
      const database = openUnguarded(fixture.url, removals);
      const goOn = () => set(activity.id, 'sale_paused_at = NULL');
      try {
        const late = racing(database, 'FOR UPDATE SKIP LOCKED', goOn);
        const { archived } = await archiveActivities(late, keep);
        expect(database.unmet()).toEqual([]);
        return archived;
      } finally {
        await database.close();
      }
    };
    expect(await run([])).toEqual([]);
    await set(activity.id, 'sale_paused_at = NOW(3) - INTERVAL 3 DAY');
    const secondLook: Removal = {
      guard: 'FOR UPDATE SKIP LOCKED',
      cut: (sql) => sql.replace(/AND archived_at IS NULL[\s\S]*FOR UPDATE/, 'AND ? + ? + ? > 0 FOR UPDATE'),
    };
    expect(await run([secondLook])).toEqual([activity.id]);
  });

  it('a sale without an end that has places stays, however old it is', async () => {
    const { activity } = await oldSale();
    await set(activity.id, 'sale_ends_at = NULL');
    expect(await archive()).toEqual([]);
  });
});

describe('nothing is sold or changed in an archived activity', () => {
  it('an order whose hold was taken before is refused, and leaves nothing', async () => {
    const { activity } = await oldSale();
    await archive();
    const { results } = await repository.createOrders([newOrder(activity), newOrder(activity)]);
    expect(results).toEqual([{ kind: 'stale_generation' }, { kind: 'stale_generation' }]);
    expect(await repository.readActivity(activity.id)).toMatchObject({ available: activity.available - 6 });
  });

  it('nor one of its own generation; without the guard it would take a place', async () => {
    const { activity } = await oldSale();
    await set(activity.id, 'archived_at = NOW(3)');
    const { results } = await repository.createOrders([newOrder(activity), newOrder(activity)]);
    expect(results).toEqual([{ kind: 'stale_generation' }, { kind: 'stale_generation' }]);
    const off = openUnguarded(fixture.url, [without(' AND archived_at IS NULL')]);
    try {
      const sold = await createOrders(off, createBusyActivities(), [newOrder(activity)]);
      expect(sold.results).toEqual([{ kind: 'created' }]);
      expect(off.unmet()).toEqual([]);
    } finally {
      await off.close();
    }
  });

  it('nor one of a load that lost its transaction and came into Redis after', async () => {
    const { activity } = await oldSale();
    const lost = { ...activity, generation: activity.generation + 1 };
    await archive();
    const { results } = await repository.createOrders([newOrder(lost)]);
    expect(results).toEqual([{ kind: 'stale_generation' }]);
    expect((await repository.readActivity(activity.id))?.generation).toBeGreaterThan(lost.generation);
  });

  it('late money goes back, whatever its policy; without the guard it would take a place', async () => {
    const { activity, closed } = await oldSale();
    await set(activity.id, "late_payment_policy = 'reacquire', sale_ends_at = NULL, sale_paused_at = NOW(3)");
    await set(activity.id, 'archived_at = NOW(3)');
    const [first, second] = closed;
    if (!first || !second) throw new Error('no orders');
    expect(await repository.recordPayment(captureOf(first))).toMatchObject({ outcome: 'refund_pending' });
    // Read as it was before, and archived in between: the update of the places refuses.
    const late = openUnguarded(fixture.url, [without(' OR archived_at IS NOT NULL')]);
    const off = openUnguarded(fixture.url, [
      without(' OR archived_at IS NOT NULL'),
      without(' AND archived_at IS NULL'),
    ]);
    try {
      const log = collectLog([]);
      const pay = (by: typeof off) => recordPayment(by, log, createBusyActivities(), captureOf(second));
      expect(await pay(late)).toMatchObject({ outcome: 'refund_pending' });
      expect(late.unmet()).toEqual([]);
      await fixture.query('DELETE FROM payment WHERE order_id = ?', [bytesOf(second.id)]);
      expect(await pay(off)).toMatchObject({ outcome: 'reacquired' });
      expect(off.unmet()).toEqual([]);
    } finally {
      await late.close();
      await off.close();
    }
  });

  it('capacity and pause are refused by name; lists and loads leave it out', async () => {
    const { activity } = await oldSale();
    await archive();
    const changed = await repository.changeCapacity(activity.id, 500, byHand, noAnswer);
    expect(changed).toEqual({ kind: 'refused', result: { kind: 'archived' } });
    const asked = { ...byHand, dryRun: false };
    const resumed = await repository.setActivityPaused(activity.id, false, asked, noAnswer);
    expect(resumed).toEqual({ kind: 'refused', result: { kind: 'archived' } });
    for (const only of ['live', 'over', undefined] as const) {
      const page = { afterId: activity.id - 1, limit: 1, ...(only && { only }) };
      expect((await repository.listActivities(page)).map(({ id }) => id)).not.toContain(activity.id);
    }
    let loads = 0;
    await repository.rebuildSnapshot(activity.id, async () => {
      loads += 1;
      return 'a run id';
    });
    expect(loads).toBe(0);
  });

  it('it is Redis that still owes something, until that is noted', async () => {
    const { activity } = await oldSale({ paid: 0 });
    await set(activity.id, "stock_run_id = 'a run id'");
    await archive();
    const [stock, ...none] = await repository.readArchivedStocks({ limit: 10 });
    if (!stock) throw new Error('no stock');
    expect([stock.activityId, none]).toEqual([activity.id, []]);
    await repository.noteStockForgotten(stock);
    await repository.noteStockForgotten(stock);
    expect(await repository.readArchivedStocks({ limit: 10 })).toEqual([]);
    expect(await repository.readArchivedSales({ afterId: activity.id - 1, limit: 10 })).toEqual([]);
  });

  it.each([
    ['by a server', "stock_run_id = 'another'", ' AND stock_run_id = ?', ' AND ? IS NOT NULL'],
    ['by the same server', 'generation = generation + 1', ' AND generation = ?', ' AND ? IS NOT NULL'],
    ['and it is not archived', 'archived_at = NULL', ' AND archived_at IS NOT NULL', ''],
  ])('Redis still owes it when it was loaded again meanwhile %s', async (_how, what, guard, instead) => {
    const { activity } = await oldSale({ paid: 0 });
    await set(activity.id, "stock_run_id = 'a run id'");
    await archive();
    const [stock] = await repository.readArchivedStocks({ limit: 10 });
    if (!stock) throw new Error('no stock');
    await set(activity.id, what);
    await repository.noteStockForgotten(stock);
    expect((await repository.readActivity(activity.id))?.stockRunId).not.toBeNull();
    const off = openUnguarded(fixture.url, [without(guard, instead)]);
    try {
      await noteStockForgotten(off, stock);
      expect((await repository.readActivity(activity.id))?.stockRunId).toBeNull();
      expect(off.unmet()).toEqual([]);
    } finally {
      await off.close();
    }
  });
});
