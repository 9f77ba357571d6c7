import type {
  ActivitySnapshot,
  CapacityRefusal,
  ChangedCapacity,
  ExtendedOrder,
  ExtendRefusal,
  OperatorRequest,
  OperatorResult,
  StoredAnswer,
} from '@lapse/order-repository';
import type { AtOnce, Ledger } from './model-ledger.ts';
import { isActive, isOpen, toOrder } from './model-rows.ts';

type Operations = AtOnce<
  'changeCapacity' | 'createActivity' | 'extendOrder' | 'listActivities' | 'readActivity'
>;

/** The one transaction with steps of its caller inside, in its two halves. */
export interface RebuildSteps {
  /** Lock the activity and read what Redis must have. Undefined: no such activity. */
  beginRebuild(activityId: number): ActivitySnapshot | undefined;
  commitRebuild(snapshot: ActivitySnapshot, runId: string): void;
  rollBackRebuild(activityId: number): void;
}

/** Activities, and changes by hand. */
export function operation(ledger: Ledger): Operations & RebuildSteps {
  const { guards, tables, now, locked, activityOf } = ledger;
  const { activities, orders } = tables;
  const answers = new Map<string, StoredAnswer>();

  /** A change by hand, once per key. */
  function byOperator<Done, Refused>(
    { actor, idempotency }: OperatorRequest,
    answer: (done: Done) => StoredAnswer,
    change: () => { readonly kind: 'refused'; readonly result: Refused } | { readonly done: Done },
  ): OperatorResult<Done, Refused> {
    const key = idempotency && `${actor} ${idempotency.key}`;
    const earlier = key === undefined ? undefined : answers.get(key);
    if (earlier) return { kind: 'replayed', answer: earlier };
    const changed = change();
    if ('kind' in changed) return changed;
    const given = answer(changed.done);
    if (key !== undefined) answers.set(key, given);
    return { kind: 'done', result: changed.done, answer: given };
  }

  const changeCapacity: Operations['changeCapacity'] = (activityId, capacity, request, answer) => {
    ledger.requireUnlocked([activityId]);
    return byOperator<ChangedCapacity, CapacityRefusal>(request, answer, () => {
      const activity = activities.get(activityId);
      if (!activity) return { kind: 'refused', result: { kind: 'not_found' } };
      const { capacity: before, available } = activity;
      const taken = before - available;
      if (capacity < taken)
        return { kind: 'refused', result: { kind: 'below_sold', capacity: before, taken } };
      if (capacity === before) return { done: { activity: { ...activity }, effect: null } };
      activity.capacity = capacity;
      activity.available = capacity - taken;
      activity.capacityVersion += 1;
      const version = activity.capacityVersion;
      const effect = { id: ledger.newId('effect'), kind: 'capacity', activityId, orderIds: [] } as const;
      ledger.addEffect({ ...effect, version, capacity });
      return { done: { activity: { ...activity }, effect: { ...effect, version, capacity } } };
    });
  };

  const extendOrder: Operations['extendOrder'] = (id, extension, request, answer) =>
    byOperator<ExtendedOrder, ExtendRefusal>(request, answer, () => {
      const order = orders.get(id);
      if (!order) return { kind: 'refused', result: { kind: 'not_found' } };
      if (order.status !== 'PENDING') {
        return { kind: 'refused', result: { kind: 'not_pending', order: toOrder(order) } };
      }
      const before = order.expiresAt.getTime();
      const after = 'until' in extension ? extension.until.getTime() : before + extension.byMs;
      if (after <= before || after <= now()) {
        return { kind: 'refused', result: { kind: 'not_later', order: toOrder(order) } };
      }
      const moved = (at: Date): Date => new Date(at.getTime() + after - before);
      order.firstRemindAt ??= order.remindAt;
      order.firstExpiresAt ??= order.expiresAt;
      if (order.remindedAt === null) order.remindAt = moved(order.remindAt);
      order.expiresAt = moved(order.expiresAt);
      order.settleUntil &&= moved(order.settleUntil);
      const open = [...tables.attempts.values()].filter((one) => one.orderId === id && isOpen(one));
      for (const attempt of open) attempt.settleAt = moved(attempt.settleAt);
      const outbox = ledger.addOutbox(order.remindedAt === null ? 1 : 2, [order]);
      return { done: { order: toOrder(order), outbox } };
    });

  return {
    changeCapacity,
    extendOrder,
    createActivity: ({ saleStartsAt, saleEndsAt, ...body }) => {
      const id = activities.size + 1;
      activities.set(id, {
        ...body,
        ...{
          id,
          available: body.capacity,
          capacityVersion: 1,
          generation: 1,
          stockRunId: null,
          salePausedAt: null,
          archivedAt: null,
          createdAt: new Date(now()),
        },
        saleStartsAt: saleStartsAt === null ? null : new Date(saleStartsAt),
        saleEndsAt: saleEndsAt === null ? null : new Date(saleEndsAt),
      });
      return { ...activityOf(id) };
    },
    readActivity: (id) => (activities.has(id) ? { ...activityOf(id) } : undefined),
    listActivities: ({ afterId, limit, only }) =>
      [...activities.values()]
        .filter(({ id }) => id > afterId)
        .filter(({ saleEndsAt, payWithinMs, paymentGraceMs }) => {
          const endsAtMs = saleEndsAt?.getTime() ?? Number.POSITIVE_INFINITY;
          const isLive = endsAtMs > now() - payWithinMs - paymentGraceMs - 3_600_000;
          return only === undefined || isLive === (only === 'live');
        })
        .slice(0, limit)
        .map((activity) => ({ ...activity })),
    beginRebuild: (activityId) => {
      ledger.requireUnlocked([activityId]);
      const activity = activities.get(activityId);
      if (!activity) return undefined;
      locked.add(activityId);
      const active = [...orders.values()].filter((row) => row.activityId === activityId && isActive(row));
      const { generation, capacity, capacityVersion, available, stockRunId } = activity;
      const holds = active.map(({ id, userId, quantity, status }) => {
        const state = status === 'PAID' ? ('sold' as const) : ('held' as const);
        return { orderId: id, userId, quantity, state };
      });
      // No key of theirs expires in a history of minutes; a fence never had one.
      const former = [...orders.values()].filter(
        (row) => row.activityId === activityId && !isActive(row) && row.idempotencyKey !== '',
      );
      return {
        activityId,
        generation: generation + 1,
        capacity,
        capacityVersion,
        available,
        stockRunId,
        holds,
        formerBuyers: guards.loadSeen ? former.map(({ userId }) => userId) : [],
      };
    },
    commitRebuild: ({ activityId, generation, holds }, runId) => {
      locked.delete(activityId);
      Object.assign(activityOf(activityId), { generation, ...(guards.runIdNoted && { stockRunId: runId }) });
      const read = holds
        .filter(({ state }) => state === 'held')
        .flatMap(({ orderId }) => orders.get(orderId) ?? []);
      const paid = read.filter(({ status }) => status === 'PAID');
      if (paid.length > 0) ledger.addSettleEffect('confirm', paid);
    },
    rollBackRebuild: (activityId) => {
      locked.delete(activityId);
    },
  };
}
