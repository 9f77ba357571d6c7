export interface ScrapedSeries {
  /** With `_bucket`, `_sum` or `_count` at its end, where it is one of a histogram or summary. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Exposition {
  readonly series: readonly ScrapedSeries[];
  /** Every name that a query may use, those of metrics without a series yet included. */
  readonly names: ReadonlySet<string>;
}

const parts = { histogram: ['_bucket', '_sum', '_count'], summary: ['', '_sum', '_count'] } as const;

/** Read what a process answers to a scrape, in the text format of Prometheus. */
export function readExposition(text: string): Exposition {
  const names = new Set<string>();
  const series: ScrapedSeries[] = [];
  for (const line of text.split('\n')) {
    const [, metric = '', type = ''] = /^# TYPE (\S+) (\S+)$/.exec(line) ?? [];
    if (metric !== '') {
      const ends = type === 'histogram' || type === 'summary' ? parts[type] : [''];
      for (const end of ends) names.add(`${metric}${end}`);
    }
    const [, name, labels = '', value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) continue;
    series.push({ name, labels: readLabels(labels), value: Number(value) });
  }
  return { series, names };
}

function readLabels(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name, value]),
  );
}
