/** The processes that are killed. Each is started from its compiled `main.js`, as its container starts it. */
export type ProcessName = 'producer' | 'reminder' | 'closer' | 'sweeper' | 'settler';

/**
 * Every call by which a process changes something outside itself, as `port.method`. Each is two crash points,
 * before and after; where two follow each other, "after" the one is the place between two effects.
 * `catalogue.test.ts` fails when a port has a method that is neither here nor in `reads`.
 */
export const effects: Readonly<Record<ProcessName, readonly string[]>> = {
  producer: [
    'orders.openActivity',
    'orders.changeCapacity',
    'orders.extendOrder',
    'stock.load',
    'stock.reserve',
    'orders.createOrders',
    'sender.send',
    'orders.markOutboxSent',
    'orders.recordPayment',
    'stock.confirm',
    'orders.cancelOrder',
    'orders.openAttempt',
    'provider.createAttempt',
    'orders.markAttemptOpen',
    'stock.reacquire',
    'stock.release',
    'orders.markEffectsApplied',
  ],
  reminder: [
    'orders.remindPending',
    'orders.rearm',
    'sender.send',
    'orders.markOutboxSent',
    'orders.expandClosedNotices',
    'orders.claimNotifications',
    'notifier.send',
    'orders.finishNotification',
    'orders.expandShopEvents',
    'orders.claimShopEvents',
    'shop.send',
    'orders.finishShopEvents',
    'broker.ack',
  ],
  closer: [
    'orders.closeExpired',
    'orders.rearm',
    'sender.send',
    'orders.markOutboxSent',
    'stock.release',
    'orders.markEffectsApplied',
    'broker.ack',
  ],
  sweeper: [
    'orders.closeOverdue',
    'orders.claimOutbox',
    'sender.send',
    'orders.markOutboxSent',
    'orders.listPendingEffects',
    'stock.release',
    'stock.confirm',
    'orders.markEffectsApplied',
    'orders.rebuildSnapshot',
    'stock.load',
    'orders.fenceOrphans',
    'stock.reacquire',
    'stock.pruneReleased',
    'stock.setCapacity',
    'orders.expireKeys',
    'orders.sweepReminders',
  ],
  settler: [
    'orders.claimDueAttempts',
    'provider.cancelAttempt',
    'orders.endAttempt',
    'orders.closeExpired',
    'stock.release',
    'orders.markEffectsApplied',
    'orders.claimWaitingPayments',
    'orders.recordPayment',
    'stock.confirm',
    'orders.claimRefunds',
    'provider.refund',
    'orders.finishRefund',
  ],
};

/** Methods that change nothing, and those whose crash is shown elsewhere, with the place. */
export const reads: Readonly<Record<string, string>> = {
  'orders.close': 'ends the process itself',
  'orders.ping': 'reads',
  'orders.now': 'reads',
  'orders.readActivity': 'reads',
  'orders.listParked': 'reads',
  'orders.createActivity': 'the same as openActivity, for tests',
  'orders.listActivities': 'reads',
  'orders.readOrder': 'reads',
  'orders.findActiveOrder': 'reads',
  'orders.findOrdersByKey': 'reads',
  'orders.readTimeline': 'reads',
  'orders.listRefunds': 'reads',
  'orders.readPaymentBacklog': 'reads',
  'orders.listFindings': 'reads',
  'orders.listUndelivered': 'reads',
  'orders.resendNotifications': 'one statement by hand',
  'orders.resendShopEvents': 'one statement by hand',
  'orders.retryAttempt': 'a provider that is away: apps/settler/test',
  'orders.failRefund': 'a provider that says no: apps/settler/test',
  'orders.giveUpWaitingPayments': 'after ten minutes: apps/settler/test',
  'orders.readStatuses': 'reads',
  'orders.markOutboxFailed': 'a note for the operator: the row stays unsent either way',
  'orders.parkMessage':
    'packages/messaging/test: a parked message is acknowledged after its row is committed',
  'orders.parkDeadLetter':
    'packages/messaging/test: a dead letter is acknowledged after its row is committed',
  'orders.redriveParked': 'one transaction by hand; apps/producer/test shows a repeat',
  'orders.dropParked': 'the same',
  'stock.ping': 'reads',
  'stock.close': 'ends the process itself',
  'stock.readGenerations': 'reads',
  'stock.readCounts': 'reads',
  'stock.scanHeld': 'reads',
};

/** All crash points of a process, in the order of its effects. */
export function crashPointsOf(process: ProcessName): string[] {
  return effects[process].flatMap((call) => [`${call}:before`, `${call}:after`]);
}
