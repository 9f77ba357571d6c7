export const outageServices = ['broker', 'mysql', 'redis'] as const;
export type OutageService = (typeof outageServices)[number];

/**
 * `kill`: SIGKILL to the server, and a start later. `cut`: the network between it and every process swallows all bytes,
 * so that nobody is told; at the end every connection breaks.
 */
export const outageKinds = ['kill', 'cut'] as const;
export type OutageKind = (typeof outageKinds)[number];

export interface OutageCase {
  readonly service: OutageService;
  readonly how: OutageKind;
  /** How long it is away; the server's own start comes on top of a `kill`. */
  readonly seconds: number;
}

/** What is played unless asked otherwise. The longest is played once a service. */
const durations: readonly { readonly seconds: number; readonly kinds: readonly OutageKind[] }[] = [
  { seconds: 5, kinds: outageKinds },
  { seconds: 60, kinds: outageKinds },
  { seconds: 300, kinds: ['kill'] },
];

export const outageCases: readonly OutageCase[] = durations.flatMap(({ seconds, kinds }) =>
  outageServices.flatMap((service) => kinds.map((how) => ({ service, how, seconds }))),
);

/** The shortest of them. */
export const quickCases: readonly OutageCase[] = outageCases.filter(
  ({ seconds }) => seconds === Math.min(...durations.map((each) => each.seconds)),
);

/** As a person writes it after `--only`. */
export function nameOf({ service, how, seconds }: OutageCase): string {
  return `${service}:${seconds}:${how}`;
}
