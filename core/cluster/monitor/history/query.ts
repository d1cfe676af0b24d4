import { naturalOrder } from '../../../base/natural-order.ts';
import {
  SERIES_PER_CHART_MAX,
  type ChartId,
  type MetricsAnswer,
  type MetricsQuery,
} from '../../../contract/index.ts';
import { thinningOf, type Thinning } from './charts.ts';
import type { History } from './history.ts';
import type { Sample } from './segment.ts';

export const MINUTE_MS = 60_000;

export interface Histories {
  readonly raw: History;
  readonly minute: History;
}

class Cell {
  sum = 0;
  max = -Infinity;
  count = 0;

  add(value: number): void {
    this.sum += value;
    this.count += 1;
    if (value > this.max) this.max = value;
  }

  value(thinning: Thinning): number | null {
    if (this.count === 0) return null;
    return thinning === 'sum' ? this.sum : thinning === 'max' ? this.max : this.sum / this.count;
  }
}

/** Samples laid into as many equal steps as are asked for; a step stands for the time that ends with it. */
export const layOut = (
  samples: readonly Sample[],
  { charts, fromMs, toMs, points }: Omit<MetricsQuery, 'cluster'>,
): Omit<MetricsAnswer, 'sinceMs'> => {
  const stepMs = Math.max(1, (toMs - fromMs) / (points - 1));
  const cells = new Map<ChartId, Map<string, Cell[]>>();
  for (const chart of charts) cells.set(chart, new Map());
  for (const { atMs, points: drawn } of samples) {
    const at = Math.ceil((atMs - fromMs) / stepMs);
    if (at < 0 || at >= points) continue;
    for (const { chart, series, value } of drawn) {
      const lines = cells.get(chart);
      if (!lines) continue;
      let line = lines.get(series);
      if (!line) {
        if (lines.size >= SERIES_PER_CHART_MAX) continue;
        lines.set(series, (line = []));
      }
      (line[at] ??= new Cell()).add(value);
    }
  }
  return {
    stepMs,
    timesMs: Array.from({ length: points }, (_, index) => fromMs + index * stepMs),
    charts: [...cells].map(([chart, lines]) => {
      const thinning = thinningOf(chart);
      return {
        chart,
        series: [...lines]
          .sort(([a], [b]) => naturalOrder(a, b))
          .map(([name, line]) => ({
            name,
            values: Array.from({ length: points }, (_, index) => line[index]?.value(thinning) ?? null),
          })),
      };
    }),
  };
};

/** Answers from minutes where a step is at least one, and from what came after the last whole minute. */
export const answerQuery = async (histories: Histories, query: MetricsQuery): Promise<MetricsAnswer> => {
  const { fromMs, toMs, points } = query;
  const charts = new Set(query.charts);
  const stepMs = Math.max(1, (toMs - fromMs) / (points - 1));
  const span = { fromMs: fromMs - stepMs, toMs, charts };
  const minutes = stepMs >= MINUTE_MS ? await histories.minute.read(span) : [];
  const afterMs = minutes.at(-1)?.atMs ?? -Infinity;
  const newest = await histories.raw.read({ ...span, fromMs: Math.max(span.fromMs, afterMs + 1) });
  const firsts = [await histories.minute.firstMs(), await histories.raw.firstMs()].filter(
    (ms) => ms !== null,
  );
  return {
    sinceMs: firsts.length === 0 ? null : Math.min(...firsts),
    ...layOut([...minutes, ...newest], { ...query, charts: [...charts] }),
  };
};
