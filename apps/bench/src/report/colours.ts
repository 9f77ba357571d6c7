/** Colours that people with any kind of colour blindness can tell apart (Okabe and Ito, Tol), the same everywhere. */
const contenders: Readonly<Record<string, string>> = {
  limit: '#24292f',
  lapse: '#0072b2',
  seed: '#d55e00',
  bullmq: '#e69f00',
  rabbitmq: '#009e73',
  zset: '#56b4e9',
  'poll-1000': '#cc79a7',
  'poll-100': '#882255',
  'graphile-worker': '#999933',
  'pg-boss': '#44aa99',
};

/** Of processes and services; those that many runs share are the stores and the broker. */
const processes: Readonly<Record<string, string>> = {
  worker: '#0072b2',
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

export function contenderColour(name: string): string {
  return contenders[name] ?? other;
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
