interface LineLook {
  readonly colour: string;
  /** Lengths of dashes and gaps; two lines that lie on each other are told apart by them. */
  readonly dash: 'solid' | readonly number[];
}

const dashed = [7, 3];
const dotted = [2, 3];
const mixed = [10, 3, 2, 3];

/** Colours that people with any kind of colour blindness can tell apart (Okabe and Ito, Tol), the same everywhere. */
const contenders: Readonly<Record<string, LineLook>> = {
  limit: { colour: '#24292f', dash: dashed },
  lapse: { colour: '#0072b2', dash: 'solid' },
  seed: { colour: '#d55e00', dash: 'solid' },
  bullmq: { colour: '#e69f00', dash: dashed },
  rabbitmq: { colour: '#009e73', dash: dotted },
  zset: { colour: '#56b4e9', dash: mixed },
  'poll-1000': { colour: '#cc79a7', dash: 'solid' },
  'poll-100': { colour: '#882255', dash: dashed },
  'graphile-worker': { colour: '#999933', dash: 'solid' },
  'pg-boss': { colour: '#44aa99', dash: mixed },
};

/** Of processes and services; those that many runs share are the stores and the broker. */
const processes: Readonly<Record<string, string>> = {
  worker: '#0072b2',
  'worker-2': '#332288',
  producer: '#0072b2',
  reminder: '#e69f00',
  closer: '#009e73',
  settler: '#cc79a7',
  sweeper: '#882255',
  mysql: '#56b4e9',
  postgres: '#44aa99',
  redis: '#d55e00',
  broker: '#999999',
};

const other = '#6e7781';

/** What contenders share, in the order in which it is shown. All other processes are their own. */
export const services: readonly string[] = ['mysql', 'postgres', 'redis', 'broker'];

export function contenderLook(name: string): LineLook {
  return contenders[name] ?? { colour: other, dash: 'solid' };
}

export function processColour(name: string): string {
  return processes[name] ?? other;
}

/** Text, lines and ground of every picture: its own ground, so that it reads on a light and on a dark page. */
export const ink = {
  text: '#24292f',
  muted: '#57606a',
  line: '#d0d7de',
  ground: '#ffffff',
  goal: '#b42318',
} as const;
