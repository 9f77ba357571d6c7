import { activity, type SeedOrder, type World } from './world.ts';

/** The hash of what each order holds in Redis. */
export const holds = `${activity.keys}:holds`;

export function loseNotice(sql: World['sql'], order: SeedOrder, stage: string): Promise<unknown> {
  return sql.query('DELETE FROM notification WHERE order_id = ? AND stage = ?', [order.bytes, stage]);
}

/** From a minute before the deadline to so many seconds after it. */
export function attemptLasted(sql: World['sql'], order: SeedOrder, seconds: number): Promise<unknown> {
  return sql.query(
    `UPDATE payment_attempt p JOIN orders o ON o.id = p.order_id
     SET p.created_at = o.expires_at - INTERVAL 1 MINUTE, p.ended_at = o.expires_at + INTERVAL ? SECOND
     WHERE o.id = ?`,
    [seconds, order.bytes],
  );
}

export function park(sql: World['sql'], order: SeedOrder, phase: number, state = 'PARKED'): Promise<unknown> {
  return sql.query(
    `INSERT INTO parked (kind, ref, body_hash, order_id, phase, reason, created_at, state)
     VALUES ('order', ?, ?, ?, ?, 'poison', NOW(3), ?)`,
    [order.id, Buffer.alloc(32), order.bytes, phase, state],
  );
}
