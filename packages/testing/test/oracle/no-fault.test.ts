import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeVerdict, type OracleOptions } from '../../src/index.ts';
import { judgeWorld } from './judge-world.ts';
import { attemptLasted, loseNotice, park } from './spoil.ts';
import {
  activity,
  archive,
  archiveSale,
  attempt,
  openWorld,
  payment,
  type SeedOrder,
  seenBitOf,
  sentMessage,
  shopEvent,
  takeAgain,
  type World,
} from './world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());
beforeEach(() => world.reset());

const judge = (options: Partial<OracleOptions> = {}) => judgeWorld(world, options);

describe('what the oracle finds nothing wrong with, and where that ends', () => {
  it('finds nothing wrong where orders went to the archive, and counts what they gave back', async () => {
    const { sql, orders } = world;
    for (const order of [orders.closed, orders.cancelled, orders.aborted]) {
      await sentMessage(sql, order);
      await archive(sql, order);
    }
    await sql.query("UPDATE message_outbox SET body = 'no JSON' WHERE body LIKE ?", [
      `%${orders.aborted.id}%`,
    ]);
    const verdict = await judge();
    expect(verdict.failed, describeVerdict(verdict)).toEqual([]);
    expect(verdict.counts.units.credited).toBe(5);
  });

  it('finds nothing wrong where a whole sale went to the archive, and counts its places as sold', async () => {
    const before = await judge();
    await archiveSale(world);
    const verdict = await judge();
    expect(verdict.failed, describeVerdict(verdict)).toEqual([]);
    expect(verdict.counts.orders.PAID).toBe(before.counts.orders.PAID);
    expect(verdict.counts.units).toEqual({ ...before.counts.units, available: 9, pending: 0 });
  });

  it('asks a server of Redis that came back with older data for no buyer: it refuses everybody until it is loaded', async () => {
    await world.redis.setbit(`${activity.keys}:seen`, seenBitOf(world.orders.closed), 0);
    await world.sql.query("UPDATE activity SET stock_run_id = 'of another server'");
    expect(await judge({ atRest: false })).toMatchObject({ ok: true });
  });

  it('reports a parked order as parked, not as overdue', async () => {
    await world.sql.query('UPDATE orders SET expires_at = NOW(3) - INTERVAL 1 HOUR WHERE status = ?', [
      'PENDING',
    ]);
    await park(world.sql, world.orders.pending, 2);
    const { ok, counts } = await judge();
    expect(ok).toBe(true);
    expect(counts.parked).toEqual({ orders: 1, messages: 0, deadLetters: 0, notifications: 0 });
  });

  it('lists what is parked for a person, until it is redriven or dropped', async () => {
    const parkMessage = (kind: string, ref: string, state: string) =>
      world.sql.query(
        `INSERT INTO parked (kind, ref, body_hash, reason, created_at, state) VALUES (?, ?, ?, 'why', NOW(3), ?)`,
        [kind, ref, Buffer.alloc(32), state],
      );
    await parkMessage('message', 'm1', 'REDRIVEN');
    await parkMessage('message', 'm2', 'PARKED');
    await parkMessage('dead_letter', 'd1', 'PARKED');
    const verdict = await judge();
    expect(verdict.ok).toBe(true);
    expect(verdict.counts.parked).toEqual({ orders: 0, messages: 1, deadLetters: 1, notifications: 0 });
    expect(verdict.parked.map(({ kind, ref }) => `${kind} ${ref}`)).toEqual(['dead_letter d1', 'message m2']);
    expect(describeVerdict(verdict)).toContain('parked dead_letter d1: why');
  });

  it('an order parked and redriven is overdue like any other', async () => {
    await world.sql.query('UPDATE orders SET expires_at = NOW(3) - INTERVAL 1 HOUR WHERE status = ?', [
      'PENDING',
    ]);
    await park(world.sql, world.orders.pending, 2, 'REDRIVEN');
    expect((await judge()).failed.map(({ id }) => id)).toEqual(['I8']);
  });

  it('asks for no reminder where the claim came too late, or the order is parked and waits for a person', async () => {
    const { sql, orders } = world;
    await loseNotice(sql, orders.paid, 'REMINDER');
    // Claimed after its deadline; then an operator moved that.
    await sql.query(
      `UPDATE orders SET expires_at = reminded_at, first_expires_at = reminded_at, first_remind_at = remind_at
       WHERE id = ?`,
      [orders.paid.bytes],
    );
    expect(describeVerdict(await judge())).not.toContain('FAIL');
    await sql.query('UPDATE orders SET expires_at = NOW(3) + INTERVAL 1 HOUR WHERE id = ?', [
      orders.paid.bytes,
    ]);
    await loseNotice(sql, orders.pending, 'REMINDER');
    await sql.query('UPDATE orders SET reminded_at = NULL WHERE id = ?', [orders.pending.bytes]);
    await park(sql, orders.pending, 1);
    expect(describeVerdict(await judge())).not.toContain('FAIL');
  });

  it('lets an order close whose attempt had ended, or whose grace was over', async () => {
    const { sql, orders } = world;
    await attempt(sql, orders.closed, 'CANCELLED');
    await attemptLasted(sql, orders.closed, 0);
    expect(describeVerdict(await judge())).not.toContain('FAIL');
    await attemptLasted(sql, orders.closed, 60);
    await sql.query('UPDATE activity SET payment_grace_ms = 20');
    expect(describeVerdict(await judge())).not.toContain('FAIL');
    await sql.query('UPDATE activity SET payment_grace_ms = 21');
    expect((await judge()).failed.map(({ id }) => id)).toEqual(['I7']);
  });

  it('where the shop is told of each step, an order of which it is not is a fault', async () => {
    const { sql, orders } = world;
    const tell = (order: SeedOrder, ...types: string[]) =>
      Promise.all(
        types.map((type, index) =>
          shopEvent(sql, order, index, 'SENT', `NOW(3) + INTERVAL ${index} SECOND`, type),
        ),
      );
    await sql.query("UPDATE payment SET state = 'REFUNDED', refund_id = ? WHERE order_id = ?", [
      Buffer.alloc(16, 7),
      orders.late.bytes,
    ]);
    const options = { shopWantsEvents: true };
    await tell(orders.pending, 'created', 'reminded');
    await tell(orders.paid, 'created', 'reminded', 'paid');
    await tell(orders.closed, 'created', 'reminded', 'closed');
    await tell(orders.cancelled, 'created', 'cancelled');
    await tell(orders.late, 'created', 'reminded', 'closed', 'refunded');
    expect(describeVerdict(await judge(options))).not.toContain('FAIL');
    for (const type of ['created', 'reminded', 'paid', 'closed', 'cancelled', 'refunded']) {
      await sql.query("UPDATE shop_event SET type = CONCAT('no ', type) WHERE type = ?", [type]);
      const { failed } = await judge(options);
      expect(failed.map(({ detail }) => detail)).toEqual([
        expect.stringMatching(/^\d × order of which the shop is never told something$/),
      ]);
      await sql.query('UPDATE shop_event SET type = ? WHERE type = ?', [type, `no ${type}`]);
    }
    expect((await judge()).ok).toBe(true);
  });

  it('where the shop is told of each step, it is told of money that went back after its order was archived', async () => {
    const { sql, orders } = world;
    await archive(sql, orders.cancelled);
    await payment(sql, orders.cancelled, 'REFUNDED');
    const refundedIn = (seconds: number) =>
      sql.query(
        'UPDATE payment SET refund_id = ?, refunded_at = NOW(3) + INTERVAL ? SECOND WHERE order_id = ?',
        [Buffer.alloc(16, 7), ...[seconds, orders.cancelled.bytes]],
      );
    const says = '1 × archived order of which the shop is never told that money went back since';
    const told = async () => describeVerdict(await judge({ shopWantsEvents: true }));
    await refundedIn(1);
    expect(await told()).toContain(says);
    await refundedIn(-3_600);
    expect(await told()).not.toContain(says);
    await refundedIn(1);
    await shopEvent(sql, orders.cancelled, 2_500, 'SENT', 'NOW(3)', 'refunded');
    expect(await told()).not.toContain(says);
  });

  it('finds nothing wrong where a late payment took a free place again, and its buyer was told of the close', async () => {
    await takeAgain(world);
    expect(describeVerdict(await judge())).not.toContain('FAIL');
  });

  it('a refund that is due is a fault at rest only where a provider takes it', async () => {
    expect((await judge()).ok).toBe(true);
    const { failed } = await judge({ refundsArePaid: true });
    expect(failed.map(({ id }) => id)).toEqual(['I11']);
    expect(failed[0]?.detail).toMatch(/1 × refund that is due and was not made/);
    expect(failed[0]?.orderIds).toEqual([world.orders.late.id]);
    expect((await judge({ refundsArePaid: true, atRest: false })).ok).toBe(true);

    // One that the provider could not carry out is as due, and no drift of the stock.
    const { sql, orders } = world;
    await sql.query("UPDATE payment SET state = 'REFUND_FAILED', refund_id = ? WHERE order_id = ?", [
      Buffer.alloc(16, 7),
      orders.late.bytes,
    ]);
    await sql.query(
      `INSERT INTO audit_finding (id, at, kind, action, detail) VALUES (?, NOW(3), 'refund_failed', 'none', '{}')`,
      [Buffer.alloc(16, 1)],
    );
    expect((await judge()).ok).toBe(true);
    expect((await judge({ refundsArePaid: true })).failed.map(({ id }) => id)).toEqual(['I11']);
  });

  it('waits as long as the settling of an open attempt may take, and finds nothing in a finished refund', async () => {
    const { sql, orders } = world;
    await attempt(sql, orders.pending, 'OPEN');
    await sql.query('UPDATE orders SET settle_until = expires_at WHERE id = ?', [orders.pending.bytes]);
    await sql.query(
      "UPDATE payment SET state = 'REFUNDED', refund_id = ?, refunded_at = NOW(3) WHERE order_id = ?",
      [Buffer.alloc(16, 7), orders.late.bytes],
    );
    expect(describeVerdict(await judge({ refundsArePaid: true }))).not.toContain('FAIL');
  });

  it('takes an activity that Redis loaded before it followed changes of capacity', async () => {
    await world.redis.del(`${activity.keys}:capacity`);
    expect((await judge()).ok).toBe(true);
  });

  it('sees shop events in order where a parked one was passed over', async () => {
    const { sql, orders } = world;
    await shopEvent(sql, orders.closed, 1, 'SENT', 'NOW(3) - INTERVAL 1 SECOND');
    await shopEvent(sql, orders.closed, 2, 'PARKED');
    await shopEvent(sql, orders.closed, 3, 'SENT', 'NOW(3)');
    expect((await judge()).ok).toBe(true);
  });
});
