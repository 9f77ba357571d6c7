export { type AppliedEffects, applyEffects, type EffectPorts, type PendingEffect } from './apply-effects.ts';
export { countOutcomes } from './count-outcomes.ts';
export { logIdsOnce } from './log-ids-once.ts';
export { measureLateness } from './measure-lateness.ts';
export { type RearmPorts, rearmOrders } from './rearm-orders.ts';
export { type RetryLater, retryLater } from './retry-later.ts';
