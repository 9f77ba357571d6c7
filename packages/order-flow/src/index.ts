export { type AppliedEffects, applyEffects, type EffectPorts, type PendingEffect } from './apply-effects.ts';
