import {
  messageBytesMax,
  type OutboxRow,
  ordersPerMessageMax,
  type Phase,
  type TimeoutMessage,
  type TimeoutOrder,
  timeoutMessageVersion,
} from '@lapse/contracts';

export interface GroupLimits {
  /** Orders of one message are due within this many ms of its first. */
  readonly dueWindowMs: number;
  readonly ordersMax?: number;
  readonly bytesMax?: number;
}

export interface MessageGroup {
  readonly message: TimeoutMessage;
  /** The outbox rows its orders came from, each once, by id. */
  readonly rowIds: readonly string[];
}

/** Around the orders: version, phase, due time. */
const envelopeBytesMax = 96;
/** Around a user id: the other fields of an order at their longest, their names, a comma. */
const orderFrameBytesMax = 160;
/** An escaped quote takes 2 bytes for 1, a lone surrogate 6 for 3. Control characters do not pass the contract. */
const escapedMax = 2;

/**
 * Put the orders of many outbox rows into as few messages as the limits allow: by phase, by due time. Every
 * order of every row lands in exactly one message. Pure.
 *
 * Sizes are bounded from above, not measured: serialising each order twice cost more than it saved.
 */
export function groupByDueTime(rows: readonly OutboxRow[], limits: GroupLimits): MessageGroup[] {
  return ([1, 2] as const).flatMap((phase) => groupPhase(phase, rows, limits));
}

function groupPhase(phase: Phase, rows: readonly OutboxRow[], limits: GroupLimits): MessageGroup[] {
  const ordersMax = limits.ordersMax ?? ordersPerMessageMax;
  const bytesMax = limits.bytesMax ?? messageBytesMax;
  const all = rows
    .filter((row) => row.phase === phase)
    .flatMap((row) => row.orders.map((order) => ({ order, rowId: row.id })))
    .sort((a, b) => a.order.dueTime - b.order.dueTime);

  const groups: MessageGroup[] = [];
  let orders: TimeoutOrder[] = [];
  let rowIds = new Set<string>();
  let dueTime = 0;
  let bytes = 0;

  function flush(): void {
    if (orders.length === 0) return;
    groups.push({ message: { version: timeoutMessageVersion, phase, dueTime, orders }, rowIds: [...rowIds] });
    orders = [];
    rowIds = new Set();
  }

  for (const { order, rowId } of all) {
    const size = orderFrameBytesMax + escapedMax * Buffer.byteLength(order.userId);
    const full = orders.length >= ordersMax || bytes + size > bytesMax;
    if (full || order.dueTime > dueTime + limits.dueWindowMs) flush();
    if (orders.length === 0) {
      dueTime = order.dueTime;
      bytes = envelopeBytesMax;
    }
    orders.push(order);
    rowIds.add(rowId);
    bytes += size;
  }
  flush();
  return groups;
}
