import fc from 'fast-check';

/** Few of everything, so that the steps of a history meet. */
const order = fc.nat({ max: 5 });
const orders = fc.array(order, { minLength: 1, maxLength: 4 });
const newOrder = fc.record({
  order,
  user: fc.nat({ max: 2 }),
  key: fc.nat({ max: 3 }),
  quantity: fc.integer({ min: 1, max: 2 }),
  due: fc.constantFrom('later' as const, 'to remind' as const, 'now' as const, 'now' as const),
  isStale: fc.nat({ max: 9 }).map((draw) => draw === 0),
});
export type NewOrderStep = typeof newOrder extends fc.Arbitrary<infer T> ? T : never;

/** What may be asked of MySQL; orders, users and keys by number. */
export const databaseStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('create' as const),
      orders: fc.array(newOrder, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('close' as const), orders }) },
  fc.record({ do: fc.constant('sweep' as const), limit: fc.integer({ min: 1, max: 3 }) }),
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remind' as const), orders }) },
  fc.record({ do: fc.constant('rearm' as const), orders, phase: fc.constantFrom(1 as const, 2 as const) }),
  fc.record({ do: fc.constant('cancel' as const), order, isOwn: fc.nat({ max: 4 }).map((draw) => draw > 0) }),
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('pay' as const),
      order,
      event: fc.nat({ max: 3 }),
      payment: fc.nat({ max: 3 }),
      returned: fc.constantFrom(...(['none', 'none', 'none', 'none', 'part', 'all'] as const)),
      type: fc.constantFrom(
        'payment.captured' as const,
        'payment.captured' as const,
        'payment.failed' as const,
      ),
      isWrong: fc.nat({ max: 5 }).map((draw) => draw === 0),
      byAttempt: fc.boolean(),
    }),
  },
  fc.record({ do: fc.constant('fence' as const), orders }),
  { weight: 2, arbitrary: fc.record({ do: fc.constant('begin' as const), order, opens: fc.boolean() }) },
  fc.record({
    do: fc.constant('settle' as const),
    order,
    ends: fc.constantFrom('CANCELLED' as const, 'FAILED' as const),
  }),
  fc.record({ do: fc.constant('refunds' as const), finishes: fc.boolean() }),
  fc.record({ do: fc.constant('kept' as const), givesUp: fc.boolean() }),
  fc.record({
    do: fc.constant('capacity' as const),
    capacity: fc.integer({ min: 0, max: 6 }),
    key: fc.nat({ max: 2 }),
  }),
  fc.record({
    do: fc.constant('extend' as const),
    order,
    hours: fc.integer({ min: -1, max: 2 }),
    key: fc.nat({ max: 2 }),
  }),
  fc.record({ do: fc.constant('sweepReminders' as const) }),
  fc.record({
    do: fc.constant('notices' as const),
    ends: fc.constantFrom('SENT' as const, 'PARKED' as const, 'WAITING' as const, null),
  }),
  fc.record({ do: fc.constant('effects' as const), apply: fc.boolean() }),
  fc.record({
    do: fc.constant('outbox' as const),
    next: fc.constantFrom('send' as const, 'fail' as const, 'nothing' as const),
  }),
  fc.record({ do: fc.constant('rebuild' as const), ends: fc.boolean() }),
  fc.record({ do: fc.constant('look' as const), orders }),
);
export type DatabaseStep = typeof databaseStep extends fc.Arbitrary<infer T> ? T : never;

/** What may be asked of Redis. */
export const redisStep = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('reserve' as const),
      order,
      generation: fc.constantFrom(1, 1, 1, 2),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('release' as const), orders }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('confirm' as const), orders }) },
  fc.record({
    do: fc.constant('load' as const),
    generation: fc.constantFrom(1, 2),
    held: fc.uniqueArray(order, { maxLength: 2 }),
    former: fc.option(fc.uniqueArray(order, { maxLength: 2 })),
  }),
  fc.record({ do: fc.constant('reacquire' as const), orders }),
  fc.record({
    do: fc.constant('capacity' as const),
    version: fc.integer({ min: 1, max: 4 }),
    capacity: fc.integer({ min: 0, max: 8 }),
  }),
  fc.record({ do: fc.constant('prune' as const), olderThanMs: fc.constantFrom(0, 3_600_000) }),
  fc.record({ do: fc.constant('held' as const), olderThanMs: fc.constantFrom(0, 3_600_000) }),
);
export type RedisStep = typeof redisStep extends fc.Arbitrary<infer T> ? T : never;
