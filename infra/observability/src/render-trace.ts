import type { CollectedSpan } from './open-collector.ts';

/** The trace of an order: its id without the dashes. */
export function traceOf(spans: readonly CollectedSpan[], orderId: string): CollectedSpan[] {
  const traceId = orderId.replaceAll('-', '');
  return spans
    .filter((span) => span.traceId === traceId)
    .sort((left, right) => left.startedAtMs - right.startedAtMs || left.endedAtMs - right.endedAtMs);
}

/** A trace as text: a line for each span, with its time since the first, how long it took, and whose it was. */
export function renderTrace(orderId: string, trace: readonly CollectedSpan[]): string {
  const [first] = trace;
  if (first === undefined) return `no span of order ${orderId}\n`;
  const rows = trace.map((span) => {
    const batch = Number(span.attributes['lapse.batch.orders'] ?? 1);
    return [
      `+${((span.startedAtMs - first.startedAtMs) / 1_000).toFixed(3)} s`,
      `${(span.endedAtMs - span.startedAtMs).toFixed(1)} ms`,
      span.service,
      `${span.parentSpanId === '' ? '' : '  '}${span.name}`,
      batch > 1 ? `one of ${batch}` : '',
    ] as const;
  });
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const lines = rows.map(([at, took, service, name, batch]) =>
    [
      at.padStart(widths[0] ?? 0),
      took.padStart(widths[1] ?? 0),
      service.padEnd(widths[2] ?? 0),
      name.padEnd(widths[3] ?? 0),
      batch,
    ]
      .join('  ')
      .trimEnd(),
  );
  return `trace ${first.traceId} of order ${orderId}, ${trace.length} spans\n${lines.join('\n')}\n`;
}
