/** An image: the production tree of one app. */
export interface Image {
  /** The folder under `apps`, the package `@lapse/NAME`, and `lapse-NAME` in a registry. */
  readonly app: string;
  /** `service` stays and has an ops port; `command` ends. */
  readonly target: 'service' | 'command';
}

/** Every image, in the order in which a shop comes up: the command line makes schema and topics first. */
export const images: readonly Image[] = [
  { app: 'cli', target: 'command' },
  { app: 'payment-simulator', target: 'service' },
  { app: 'producer', target: 'service' },
  { app: 'reminder', target: 'service' },
  { app: 'closer', target: 'service' },
  { app: 'settler', target: 'service' },
  { app: 'sweeper', target: 'service' },
  { app: 'console', target: 'service' },
];

/** Apps that run in trials alone: the simulator takes no money. */
export const trialOnly: readonly string[] = ['payment-simulator'];
