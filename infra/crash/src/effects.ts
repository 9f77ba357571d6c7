/** The processes that are killed. Each is started from its compiled `main.js`, as its container starts it. */
export type ProcessName = 'producer' | 'reminder' | 'closer' | 'sweeper';

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
    'stock.pruneReleased',
    'stock.setCapacity',
    'orders.expireKeys',
    'orders.sweepReminders',
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
  'orders.readStatuses': 'reads',
  'orders.markOutboxFailed': 'a note for the operator: the row stays unsent either way',
  'orders.parkMessage':
    'packages/messaging/test: a parked message is acknowledged after its row is committed',
  'orders.parkDeadLetter':
    'packages/messaging/test: a dead letter is acknowledged after its row is committed',
  'orders.redriveParked': 'no process calls it yet',
  'orders.dropParked': 'no process calls it yet',
  'stock.reacquire': 'no process calls it yet',
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
