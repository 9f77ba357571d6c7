import { CommitUnknownError, type OrderRepository, StoreUnavailableError } from '@lapse/order-repository';
import { type PaymentProvider, ProviderUnavailableError } from '@lapse/payments';
import type { DeliverNoticesParts } from '@lapse/reminder/decisions';
import { type Stock, StockUnavailableError } from '@lapse/stock';
import type { CallRisks } from './call-store.ts';
import type { Incarnation } from './scheduler.ts';
import type { World } from './world.ts';

const unavailable = (): Error => new StoreUnavailableError('the simulation says so');
const unknown = (): Error => new CommitUnknownError('the simulation lost the answer of COMMIT');
const redisAway = (): Error => new StockUnavailableError('Redis is away: the simulation says so');

const lockWait = { ms: 8_000, error: unavailable };
const mysqlRead: CallRisks = { slow: 'mysql-slow', refused: ['mysql-refused', unavailable], lockWait };
/** One transaction: refused, or committed, or unknown. */
const mysqlTransaction: CallRisks = {
  ...mysqlRead,
  lost: ['mysql-unknown-undone', unknown],
  answerLost: ['mysql-unknown-done', unknown],
  late: ['mysql-unknown-late', unknown],
};
/** A call about one order: a lock is waited for once, not tried again. */
const mysqlOrder: CallRisks = { ...mysqlTransaction, lockWait: { ...lockWait, ms: 3_000 } };
/** Statements that stand alone, each its own transaction: a lost answer looks like an absence. */
const mysqlStatement: CallRisks = {
  ...mysqlRead,
  answerLost: ['mysql-unknown-done', unavailable],
};
/** A create waits for a locked activity once, then does without its orders. */
const mysqlCreate: CallRisks = { ...mysqlTransaction, lockWait: { ...lockWait, ms: 3_000 } };
const redisCall: CallRisks = {
  slow: 'redis-slow',
  lost: ['redis-lost', redisAway],
  answerLost: ['redis-answer-lost', redisAway],
  late: ['redis-late', redisAway],
  doubled: 'redis-doubled',
};

/**
 * Not doubled: TCP does not, and the client sends nothing twice. A load that arrives long after it was given up has
 * a fault of its own: it once put older stock back (seed-lists.ts).
 */
const redisLoad: CallRisks = {
  slow: 'redis-slow',
  lost: ['redis-lost', redisAway],
  answerLost: ['redis-answer-lost', redisAway],
  late: ['redis-load-late', redisAway],
};

/** How far a process's estimate of the database clock may be off: half a round trip. */
const clockErrorMsMax = 20;

export type ModelOrders = Pick<
  OrderRepository,
  | 'cancelOrder'
  | 'changeCapacity'
  | 'claimDueAttempts'
  | 'claimNotifications'
  | 'claimOutbox'
  | 'claimRefunds'
  | 'claimWaitingPayments'
  | 'closeExpired'
  | 'closeOverdue'
  | 'createOrders'
  | 'endAttempt'
  | 'expandClosedNotices'
  | 'extendOrder'
  | 'failRefund'
  | 'fenceOrphans'
  | 'findActiveOrder'
  | 'findOrdersByKey'
  | 'finishNotifications'
  | 'finishRefund'
  | 'giveUpWaitingPayments'
  | 'listActivities'
  | 'listPendingEffects'
  | 'markAttemptOpen'
  | 'markEffectsApplied'
  | 'markOutboxFailed'
  | 'markOutboxSent'
  | 'now'
  | 'openAttempt'
  | 'readActivity'
  | 'readOrder'
  | 'readStatuses'
  | 'rearm'
  | 'rebuildSnapshot'
  | 'recordPayment'
  | 'recordRefundFailure'
  | 'remindPending'
  | 'retryAttempt'
  | 'sweepReminders'
>;

/** The repository's port for one life of a process, on the modelled MySQL. */
export function openModelOrders(world: World, owner: Incarnation): ModelOrders {
  const { database, callStore, scheduler, random } = world;
  const clockErrorMs = random.int(-clockErrorMsMax, clockErrorMsMax);
  const read = <T>(what: string, effect: () => T) => callStore(owner, what, mysqlRead, effect);
  const write = <T>(what: string, effect: () => T) => callStore(owner, what, mysqlTransaction, effect);
  const onOrder = <T>(what: string, effect: () => T) => callStore(owner, what, mysqlOrder, effect);
  const run = <T>(what: string, effect: () => T) => callStore(owner, what, mysqlStatement, effect);
  return {
    now: () => scheduler.now() + clockErrorMs,
    readActivity: (id) => read('readActivity', () => database.readActivity(id)),
    listActivities: (page) => read('listActivities', () => database.listActivities(page)),
    findOrdersByKey: (keys) => read('findOrdersByKey', () => database.findOrdersByKey(keys)),
    findActiveOrder: (id, user) => read('findActiveOrder', () => database.findActiveOrder(id, user)),
    readOrder: (id) => read(`readOrder ${id}`, () => database.readOrder(id)),
    readStatuses: (ids) => read('readStatuses', () => database.readStatuses(ids)),
    createOrders: (orders) =>
      callStore(owner, `createOrders ${orders.map(({ id }) => id)}`, mysqlCreate, (isLastTry) =>
        isLastTry ? database.createUnlocked(orders) : database.createOrders(orders),
      ),
    cancelOrder: (id, user) => onOrder(`cancelOrder ${id}`, () => database.cancelOrder(id, user)),
    recordPayment: (event) => onOrder(`recordPayment ${event.orderId}`, () => database.recordPayment(event)),
    recordRefundFailure: (failure) =>
      write(`recordRefundFailure ${failure.refundId}`, () => database.recordRefundFailure(failure)),
    closeExpired: (ids, options) => write(`closeExpired ${ids}`, () => database.closeExpired(ids, options)),
    closeOverdue: (options) => write('closeOverdue', () => database.closeOverdue(options)),
    remindPending: (ids) => write(`remindPending ${ids}`, () => database.remindPending(ids)),
    sweepReminders: (options) => write('sweepReminders', () => database.sweepReminders(options)),
    changeCapacity: (...args) =>
      write(`changeCapacity ${args[0]} ${args[1]}`, () => database.changeCapacity(...args)),
    extendOrder: (...args) => write(`extendOrder ${args[0]}`, () => database.extendOrder(...args)),
    rearm: (phase, ids) => write(`rearm ${phase} ${ids}`, () => database.rearm(phase, ids)),
    fenceOrphans: (holds) => write('fenceOrphans', () => database.fenceOrphans(holds)),
    listPendingEffects: (options) => run('listPendingEffects', () => database.listPendingEffects(options)),
    markEffectsApplied: (ids) => run(`markEffectsApplied ${ids}`, () => database.markEffectsApplied(ids)),
    claimOutbox: (options) => write('claimOutbox', () => database.claimOutbox(options)),
    markOutboxSent: (rows) => run('markOutboxSent', () => database.markOutboxSent(rows)),
    markOutboxFailed: (ids, error) => run('markOutboxFailed', () => database.markOutboxFailed(ids, error)),
    expandClosedNotices: (limit) => write('expandClosedNotices', () => database.expandClosedNotices(limit)),
    claimNotifications: (options) => write('claimNotifications', () => database.claimNotifications(options)),
    finishNotifications: (finished) =>
      run(`finishNotifications ${finished.map(({ claim, outcome }) => `${claim.id} ${outcome.state}`)}`, () =>
        database.finishNotifications(finished),
      ),
    openAttempt: (wanted) => onOrder(`openAttempt of ${wanted.orderId}`, () => database.openAttempt(wanted)),
    endAttempt: (id, state, error) =>
      write(`endAttempt ${id} ${state}`, () => database.endAttempt(id, state, error)),
    claimDueAttempts: (options) => write('claimDueAttempts', () => database.claimDueAttempts(options)),
    claimRefunds: (options) => write('claimRefunds', () => database.claimRefunds(options)),
    finishRefund: (id, done) => write(`finishRefund ${id}`, () => database.finishRefund(id, done)),
    claimWaitingPayments: (options) =>
      write('claimWaitingPayments', () => database.claimWaitingPayments(options)),
    giveUpWaitingPayments: (options) =>
      write('giveUpWaitingPayments', () => database.giveUpWaitingPayments(options)),
    markAttemptOpen: (id, created) =>
      run(`markAttemptOpen ${id}`, () => database.markAttemptOpen(id, created)),
    retryAttempt: (id, later) => run(`retryAttempt ${id}`, () => database.retryAttempt(id, later)),
    failRefund: (claimed, later) =>
      run(`failRefund ${claimed.id}`, () => database.failRefund(claimed, later)),
    rebuildSnapshot: (activityId, apply) => rebuildSnapshot(world, owner, activityId, apply),
  };
}

/** Tries of a transaction whose COMMIT was surely not done. */
const rebuildTriesMax = 3;

/**
 * The one transaction with the caller's own steps inside. MySQL undoes it when its process dies: the lock goes as
 * soon as the connection is seen to be dead.
 */
async function rebuildSnapshot(
  world: World,
  owner: Incarnation,
  activityId: number,
  apply: Parameters<OrderRepository['rebuildSnapshot']>[1],
): Promise<void> {
  const { database, callStore, faults } = world;
  for (let tries = 1; ; tries += 1) {
    const snapshot = await callStore(owner, `begin rebuild ${activityId}`, mysqlRead, () => {
      // Nobody is there any more to go on with it.
      if (!owner.alive) return undefined;
      const begun = database.beginRebuild(activityId);
      if (begun) world.openTransactions.set(owner, () => database.rollBackRebuild(activityId));
      return begun;
    });
    if (!snapshot) return;
    const end = (how: () => void): void => {
      world.openTransactions.delete(owner);
      how();
    };
    let runId = '';
    try {
      runId = await apply(snapshot);
    } catch (error) {
      await callStore(owner, 'roll back', { slow: 'mysql-slow' }, () =>
        end(() => database.rollBackRebuild(activityId)),
      );
      throw error;
    }
    const isLost = faults.strikes('mysql-refused');
    const isUnknown = faults.strikes('mysql-unknown-undone');
    const isDone = !isLost && !isUnknown;
    await callStore(
      owner,
      isDone ? 'commit rebuild' : 'lose the commit of a rebuild',
      { slow: 'mysql-slow' },
      () =>
        end(() => (isDone ? database.commitRebuild(snapshot, runId) : database.rollBackRebuild(activityId))),
    );
    if (isUnknown || (isDone && faults.strikes('mysql-unknown-done'))) throw unknown();
    if (isDone) return;
    if (tries >= rebuildTriesMax) throw unavailable();
  }
}

type ModelStock = Pick<
  Stock,
  | 'confirm'
  | 'load'
  | 'forgetReleased'
  | 'reacquire'
  | 'readLoad'
  | 'readLoadToken'
  | 'release'
  | 'reserve'
  | 'scanOld'
  | 'setCapacity'
>;

/** The stock's port for one life of a process, on the modelled Redis. */
export function openModelStock({ redis, callStore }: World, owner: Incarnation): ModelStock {
  const ask = <T>(what: string, effect: () => T) => callStore(owner, what, redisCall, effect);
  return {
    reserve: (wanted) => ask(`reserve ${wanted.orderId} for ${wanted.userId}`, () => redis.reserve(wanted)),
    release: (id, orders) => ask(`release ${orders}`, () => redis.release(id, orders)),
    confirm: (id, orders) => ask(`confirm ${orders}`, () => redis.confirm(id, orders)),
    reacquire: (id, orders) =>
      ask(`reacquire ${orders.map(({ orderId }) => orderId)}`, () => redis.reacquire(id, orders)),
    setCapacity: (id, version, capacity) =>
      ask(`setCapacity ${id} ${version}:${capacity}`, () => redis.setCapacity(id, version, capacity)),
    load: (snapshot, replaces) =>
      callStore(
        owner,
        `load activity ${snapshot.activityId} generation ${snapshot.generation}`,
        redisLoad,
        () => redis.load(snapshot, replaces),
      ),
    readLoadToken: (id) => ask('readLoadToken', () => redis.readLoadToken(id)),
    readLoad: (id) => ask(`readLoad ${id}`, () => redis.readLoad(id)),
    forgetReleased: (id, orders, { olderThanMs }) =>
      ask('forgetReleased', () => redis.forgetReleased(id, orders, olderThanMs)),
    async *scanOld(id, ages) {
      const old = await ask('scanOld', () => redis.old(id, ages));
      if (old.length > 0) yield old;
    },
  };
}

const providerAway = (): Error =>
  new ProviderUnavailableError('the provider is away: the simulation says so');
const providerCall: CallRisks = {
  slow: 'provider-away',
  refused: ['provider-away', providerAway],
  answerLost: ['provider-answer-lost', providerAway],
  late: ['provider-late', providerAway],
};

type ProviderPort = Pick<PaymentProvider, 'cancelAttempt' | 'createAttempt' | 'name' | 'refund'>;

/** The provider's port for one life of a process, on the modelled provider. */
export function openProviderPort({ provider, callStore, faults }: World, owner: Incarnation): ProviderPort {
  const ask = <T>(what: string, effect: () => T) => callStore(owner, what, providerCall, effect);
  return {
    name: provider.name,
    createAttempt: (wanted) => ask(`create ${wanted.attemptId}`, () => provider.createAttempt(wanted)),
    cancelAttempt: (ref) =>
      faults.strikes('provider-unsure')
        ? ask(`ask about ${ref}`, () => ({ kind: 'processing' }) as const)
        : ask(`cancel ${ref}`, () => provider.cancelAttempt(ref)),
    refund: (wanted) => ask(`refund ${wanted.paymentId}`, () => provider.refund(wanted)),
  };
}

const receiverAway = (): Error => new Error('nobody takes the notice: the simulation says so');
const noticeCall: CallRisks = {
  slow: 'notice-away',
  refused: ['notice-away', receiverAway],
  answerLost: ['notice-answer-lost', receiverAway],
};
/** Longest time of one delivery: a slow answer, or the patience with one that does not come. */
const sendMsMax = 4_000;

/** What takes notices to buyers, for one life of a process. Nothing is kept: that they left is noted in MySQL. */
export function openNotifierPort({ callStore }: World, owner: Incarnation): DeliverNoticesParts['notifier'] {
  return {
    sendMsMax,
    send: ({ stage, orderId }) =>
      callStore(owner, `tell ${stage} of ${orderId}`, noticeCall, () => undefined),
  };
}
