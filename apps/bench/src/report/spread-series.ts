import type { CustomSeriesRenderItemAPI, CustomSeriesRenderItemReturn } from 'echarts';
import type { Summary } from '../statistics.ts';
import { ink } from './colours.ts';

/** A row of a bar chart. */
export interface Bar extends Summary {
  readonly name: string;
}

const capHeight = 5;
/** Dark with a light edge: it is seen on every colour. */
const strokes = [
  { stroke: ink.ground, lineWidth: 4 },
  { stroke: ink.text, lineWidth: 1.5 },
];

/** A thin line over each bar, from the lowest to the highest round. */
export function spreadSeries(bars: readonly Bar[]): object {
  return {
    type: 'custom',
    silent: true,
    z: 5,
    data: bars.map(({ min, max }, row) => [min, row, max]),
    encode: { x: [0, 2], y: 1 },
    renderItem: (_: unknown, api: CustomSeriesRenderItemAPI): CustomSeriesRenderItemReturn => {
      const [fromX = 0, y = 0] = api.coord([api.value(0), api.value(1)]);
      const [toX = 0] = api.coord([api.value(2), api.value(1)]);
      const line = (x1: number, y1: number, x2: number, y2: number, style: object) => ({
        type: 'line' as const,
        shape: { x1, y1, x2, y2 },
        style,
      });
      return {
        type: 'group',
        children: strokes.flatMap((style) => [
          line(fromX, y, toX, y, style),
          line(fromX, y - capHeight, fromX, y + capHeight, style),
          line(toX, y - capHeight, toX, y + capHeight, style),
        ]),
      };
    },
  };
}
