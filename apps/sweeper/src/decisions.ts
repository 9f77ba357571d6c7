// What infra/simulation runs against modelled stores: this process without its wiring.
export { type ApplyLeftEffectsParts, applyLeftEffects } from './apply-left-effects.ts';
export { type CloseOverdueParts, closeOverdue } from './close-overdue.ts';
export { type LoadStockParts, loadStock } from './load-stock.ts';
export { type ReleaseOrphansParts, releaseOrphans } from './release-orphans.ts';
export { type ResendOutboxParts, resendOutbox } from './resend-outbox.ts';
export { type SweepRemindersParts, sweepReminders } from './sweep-reminders.ts';
