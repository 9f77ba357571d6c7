import { createHistogram } from './create-histogram.ts';
import { Gauge } from './metrics.ts';

/** What gathers before it is worked on. Each has a name here, so that the series have an end. */
export const batchNames = [
  ...([
    'create',
    'find_by_key',
    'remind',
    'close',
    'close_settled',
    'close_undecided',
    'release',
    'send',
  ] as const),
  ...(['note_notice', 'note_shop_event'] as const),
] as const;
export type BatchName = (typeof batchNames)[number];

const batchItems = createHistogram({
  name: 'lapse_batch_items',
  help: 'How many orders, effects or rows were worked on together, by what was done.',
  buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_000, 2_000],
  label: { name: 'batch', values: batchNames },
});

/** A batch of so many begins. */
export function observeBatch(batch: BatchName, items: number): void {
  batchItems.observe(items, batch);
}

const queues = new Map<BatchName, () => number>();

new Gauge({
  name: 'lapse_queue_items',
  help: 'How much waits in memory to be worked on, by what is to be done.',
  labelNames: ['queue'] as const,
  collect() {
    for (const [queue, size] of queues) this.set({ queue }, size());
  },
});

/** Show how much waits in a queue, asked for at each scrape. One queue of a process for each name: the last is shown. */
export function showQueue(queue: BatchName, size: () => number): void {
  queues.set(queue, size);
}
