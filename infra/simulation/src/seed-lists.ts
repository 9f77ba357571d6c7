/** How many histories `npm test` plays: 1 to this. */
export const seedsOfTest = 1_000;

/** Seeds that once found a fault of the system, and what it was. They are played first, for ever. */
export const foundSeeds: readonly { readonly seed: number; readonly what: string }[] = [19, 60, 152, 287].map(
  (seed) => ({
    seed,
    what:
      'a load of stock that takes effect after its transaction was rolled back, and after another sweeper loaded ' +
      'the same generation, puts the older stock back',
  }),
);
