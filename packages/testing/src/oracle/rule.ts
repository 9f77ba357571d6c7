import { idToText, type MysqlSnapshot } from './mysql-snapshot.ts';
import { type Finding, type InvariantId, orderIdsMax } from './verdict.ts';

/** A condition: `column IN (…)`, or `TRUE` when all activities are checked. */
export type ActivityFilter = (column: string) => string;

/**
 * The same where `orders o` is joined LEFT. What has no order is in no activity: it is looked at whichever activities
 * are asked for, or nobody would ever see it.
 */
export function ofOrderOrNone(only: ActivityFilter): string {
  return `(o.id IS NULL OR ${only('o.activity_id')})`;
}

/** An invariant, or part of one, as a query for what breaks it. */
export interface Rule {
  readonly id: InvariantId;
  /** What is wrong with the orders found, as in "3 × closed without giving its stock back". */
  readonly says: string;
  /** Selects `order_id` (BINARY(16), or NULL when no order can be named) of each violation. */
  readonly sql: (only: ActivityFilter) => string;
}

/** Ask MySQL for the violations of each rule: named up to a limit, counted in full only when there are more. */
export async function applyRules(
  rules: readonly Rule[],
  mysql: MysqlSnapshot,
  only: ActivityFilter,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { id, says, sql } of rules) {
    const query = sql(only);
    const named = await mysql.rows<{ order_id: Buffer | null }>(
      `SELECT order_id FROM (${query}) AS violation LIMIT ${orderIdsMax}`,
    );
    if (named.length === 0) continue;
    const orderIds = named.flatMap((row) => (row.order_id === null ? [] : [idToText(row.order_id)]));
    findings.push({ id, says, total: await countAll(mysql, query, named.length), orderIds });
  }
  return findings;
}

async function countAll(mysql: MysqlSnapshot, query: string, named: number): Promise<number> {
  if (named < orderIdsMax) return named;
  const [row] = await mysql.rows<{ total: number }>(`SELECT COUNT(*) AS total FROM (${query}) AS violation`);
  return row?.total ?? named;
}
