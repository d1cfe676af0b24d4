import type { ChartUnit } from '../../../core/contract/index.ts';
import type { ChartSeries } from './chart-series.ts';
import { ceilingOf, formatTick } from './chart-units.ts';

/** Colours and fonts of the theme, read from the tokens when it changes. */
export interface ChartTheme {
  readonly series: readonly string[];
  readonly grid: string;
  readonly axis: string;
  readonly text: string;
  readonly threshold: string;
  readonly stale: string;
  readonly font: string;
  readonly fill: number;
}

export interface ChartInput {
  readonly unit: ChartUnit;
  readonly timesMs: readonly number[];
  readonly fromMs: number;
  readonly toMs: number;
  readonly series: readonly ChartSeries[];
  readonly thresholds: readonly number[];
  readonly isStale: boolean;
  readonly formatTime: (atMs: number) => string;
}

/** A limit far above the data would press it flat; then it is told in words only. */
const THRESHOLD_REACH = 4;
const TIME_TICKS = 3;
const FONT_PX = 11;

const highestOf = (series: readonly ChartSeries[]): number =>
  series.reduce(
    (max, { values }) => values.reduce<number>((top, value) => Math.max(top, value ?? 0), max),
    0,
  );

export const drawnThresholds = (
  unit: ChartUnit,
  series: readonly ChartSeries[],
  thresholds: readonly number[],
  reach = THRESHOLD_REACH,
): number[] => {
  const scale = ceilingOf(unit, highestOf(series));
  return thresholds.filter((threshold) => threshold <= scale * reach);
};

const isAlone = (values: readonly (number | null)[], place: number): boolean =>
  values[place] !== null && (values[place - 1] ?? null) === null && (values[place + 1] ?? null) === null;

/** What ECharts draws: thin lines over time from zero, gaps as gaps, limits as dashed lines. */
export const chartOption = (input: ChartInput, theme: ChartTheme) => {
  const { unit, timesMs, series, isStale } = input;
  const limits = drawnThresholds(unit, series, input.thresholds);
  const ceiling = ceilingOf(unit, Math.max(highestOf(series), ...limits));
  const label = { color: theme.text, fontFamily: theme.font, fontSize: FONT_PX };
  const colourOf = (place: number): string =>
    isStale ? theme.stale : (theme.series[(place - 1) % theme.series.length] ?? theme.axis);
  return {
    animation: false,
    grid: { left: 48, right: 8, top: 8, bottom: 20 },
    xAxis: {
      type: 'time' as const,
      min: input.fromMs,
      max: input.toMs,
      axisLine: { lineStyle: { color: theme.axis } },
      axisTick: { show: false },
      splitLine: { show: false },
      splitNumber: TIME_TICKS,
      axisLabel: {
        ...label,
        hideOverlap: true,
        // The last one would reach beyond the chart, where it is cut.
        alignMaxLabel: 'right' as const,
        formatter: (value: number) => input.formatTime(value),
      },
      axisPointer: {
        show: true,
        type: 'line' as const,
        snap: true,
        label: { show: false },
        lineStyle: { color: theme.axis, type: 'solid' as const, width: 1 },
      },
    },
    yAxis: {
      type: 'value' as const,
      min: 0,
      max: ceiling,
      interval: ceiling / 2,
      axisLabel: { ...label, formatter: (value: number) => formatTick(unit, value) },
      splitLine: { lineStyle: { color: theme.grid } },
    },
    series: series.map((one, index) => ({
      id: one.name,
      name: one.name,
      type: 'line' as const,
      showSymbol: true,
      showAllSymbol: true,
      symbolSize: 4,
      connectNulls: false,
      silent: true,
      color: colourOf(one.colour),
      lineStyle: { width: 1.5 },
      // One line has room for its area; several would hide each other.
      ...(series.length === 1 && { areaStyle: { opacity: theme.fill } }),
      // A sample between two gaps is no line: it needs a mark of its own.
      data: one.values.map((value, place) => ({
        value: [timesMs[place]!, value],
        symbol: isAlone(one.values, place) ? 'circle' : 'none',
      })),
      ...(index === 0 && {
        markLine: {
          silent: true,
          symbol: 'none',
          label: { show: false },
          lineStyle: { color: theme.threshold, type: 'dashed' as const, width: 1 },
          data: limits.map((limit) => ({ yAxis: limit })),
        },
      }),
    })),
  };
};
