import { Counter, Gauge } from '@lapse/runtime';

export const readersDropped = new Counter({
  name: 'lapse_console_readers_dropped_total',
  help: 'Live views that were too slow to be kept.',
});

/** How many live views are open. Asked for at each scrape. */
export function showOpenViews(count: () => number): void {
  new Gauge({
    name: 'lapse_console_views_open',
    help: 'Live views that are open now.',
    collect() {
      this.set(count());
    },
  });
}
