import { defineGroup } from './setting.ts';
import { url, value, wholeNumber } from './values.ts';

export const tracesGroup = defineGroup({
  url: {
    env: 'LAPSE_TRACES_URL',
    schema: url(
      ['http:', 'https:'],
      'must be the http(s) address of a collector, such as http://127.0.0.1:4318',
    ),
    optional: true,
    example: 'http://127.0.0.1:4318',
    help: 'Collector that takes spans by OTLP over HTTP; without it nothing is traced. Headers and certificates: the standard OTEL_EXPORTER_OTLP_* variables.',
  },
  ratio: {
    env: 'LAPSE_TRACES_RATIO',
    schema: value('must be a number from 0 to 1', (text) => {
      const ratio = /^\d(?:\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
      return ratio >= 0 && ratio <= 1 ? ratio : undefined;
    }),
    default: '1',
    example: '0.01',
    help: 'Share of the orders that are traced. The id of an order decides, so that all processes decide alike; give all the same share.',
  },
  spansMax: {
    env: 'LAPSE_TRACES_SPANS_MAX',
    schema: wholeNumber(512, 1_000_000),
    default: '16384',
    example: '65536',
    help: 'Most spans of one process that wait for the collector, some 1.5 KB each; more are dropped and counted.',
  },
});
