import { BarChart, CustomChart, LineChart } from 'echarts/charts';
import {
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  MarkLineComponent,
  TitleComponent,
} from 'echarts/components';
import { type EChartsCoreOption, init, use } from 'echarts/core';
import { SVGRenderer } from 'echarts/renderers';
import { ink } from './colours.ts';

use([
  BarChart,
  CustomChart,
  LineChart,
  GridComponent,
  LegendComponent,
  MarkAreaComponent,
  MarkLineComponent,
  TitleComponent,
  SVGRenderer,
]);

/** Every system has one of these; the widths of letters are near enough to each other. */
const fontFamily = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif";
const width = 820;

export interface Chart {
  readonly title: string;
  /** One sentence under it: what the axes do not say. */
  readonly subtitle: string;
  readonly height: number;
  readonly option: EChartsCoreOption;
}

/** An SVG that stands alone: no script, no font file, its own ground. */
export function renderChart({ title, subtitle, height, option }: Chart): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    chart.setOption({
      animation: false,
      backgroundColor: ink.ground,
      textStyle: { fontFamily, fontSize: 13, color: ink.text },
      title: {
        text: title,
        subtext: subtitle,
        left: 16,
        top: 12,
        itemGap: 6,
        textStyle: { fontSize: 16, color: ink.text },
        subtextStyle: { fontSize: 12, color: ink.muted },
      },
      ...option,
    });
    return chart.renderToSVGString();
  } finally {
    chart.dispose();
  }
}

const label = { color: ink.text, fontSize: 12 };
const splitLine = { lineStyle: { color: ink.line } };

export const axis = {
  label,
  /** A row for each name, the first one on top; no line of its own. */
  names: (data: readonly string[], more: object = {}) => ({
    type: 'category',
    data,
    inverse: true,
    axisTick: { show: false },
    axisLine: { show: false },
    axisLabel: label,
    ...more,
  }),
  values: (name: string, more: object = {}) => ({
    type: 'value',
    name,
    nameLocation: 'middle',
    nameGap: 32,
    nameTextStyle: { color: ink.muted, fontSize: 12 },
    axisLabel: label,
    splitLine,
    ...more,
  }),
} as const;
