/** What a commit owes to others: four kinds to Redis, of its stock; the last two to buyers and to the shop. */
export const effectKinds = [
  ...(['release', 'confirm', 'reacquire', 'capacity', 'closed_notice', 'shop_event'] as const),
] as const;
export type EffectKind = (typeof effectKinds)[number];
