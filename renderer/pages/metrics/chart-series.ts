import { naturalOrder } from '../../../core/base/natural-order.ts';
import type { MetricsAnswer } from '../../../core/contract/index.ts';

/** One line, with the place of its colour among the eight. */
export interface ChartSeries {
  readonly name: string;
  readonly colour: number;
  readonly values: readonly (number | null)[];
}

export const SERIES_SHOWN_MAX = 6;
const COLOURS = 8;

type Answered = MetricsAnswer['charts'][number]['series'];

/** `cp-1 mutating` is a part of `cp-1`. */
const partsOf = (name: string): number => name.split(' ').length;

/**
 * A name keeps its colour in all charts of a section, whichever of them it is in. Whole hosts come before parts of
 * them, so that a host has the same colour in every section.
 */
export const coloursOf = (charts: MetricsAnswer['charts']): ReadonlyMap<string, number> => {
  const names = [...new Set(charts.flatMap(({ series }) => series.map(({ name }) => name)))].sort(
    (a, b) => partsOf(a) - partsOf(b) || naturalOrder(a, b),
  );
  return new Map(names.map((name, index) => [name, (index % COLOURS) + 1]));
};

const highest = (values: readonly (number | null)[]): number =>
  values.reduce<number>((max, value) => Math.max(max, value ?? 0), 0);

/** The lines to draw: the six that reach highest, in the order of their names; and how many are left out. */
export const shownSeries = (
  series: Answered,
  colours: ReadonlyMap<string, number>,
): { readonly shown: readonly ChartSeries[]; readonly hidden: number } => {
  const known = series.filter(({ values }) => values.some((value) => value !== null));
  const kept = new Set(
    [...known]
      .sort((a, b) => highest(b.values) - highest(a.values))
      .slice(0, SERIES_SHOWN_MAX)
      .map(({ name }) => name),
  );
  const taken = new Set<number>();
  // Beyond eight names colours come again; within one chart they must not.
  const colourOf = (name: string): number => {
    let colour = colours.get(name) ?? 1;
    while (taken.has(colour) && taken.size < COLOURS) colour = (colour % COLOURS) + 1;
    taken.add(colour);
    return colour;
  };
  return {
    shown: known
      .filter(({ name }) => kept.has(name))
      .sort((a, b) => naturalOrder(a.name, b.name))
      .map(({ name, values }) => ({ name, values, colour: colourOf(name) })),
    hidden: known.length - kept.size,
  };
};

/** Samples that a target may be late with; one that is silent for longer has no present value. */
const LATE_SAMPLES_MAX = 2;

/** The value of now: of a host that is down there is none, however long its line was. */
export const presentValue = (values: readonly (number | null)[]): number | undefined =>
  lastValue(values.slice(-1 - LATE_SAMPLES_MAX));

export const lastValue = (values: readonly (number | null)[]): number | undefined =>
  values.findLast((value) => value !== null) ?? undefined;

/** The place of a moment among ascending ones; the nearest. */
export const indexAt = (timesMs: readonly number[], atMs: number): number => {
  let low = 0;
  let high = timesMs.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timesMs[middle]! < atMs) low = middle + 1;
    else high = middle;
  }
  const before = timesMs[low - 1];
  return before !== undefined && atMs - before < timesMs[low]! - atMs ? low - 1 : low;
};

export interface SeriesSummary {
  readonly name: string;
  readonly last: number | undefined;
  readonly lowest: number | undefined;
  readonly mean: number | undefined;
  readonly highest: number | undefined;
}

/** What a chart says, for who reads a table. */
export const summaries = (series: Answered): SeriesSummary[] =>
  series.map(({ name, values }) => {
    const known = values.filter((value) => value !== null);
    const has = known.length > 0;
    return {
      name,
      last: presentValue(values),
      lowest: has ? Math.min(...known) : undefined,
      mean: has ? known.reduce((sum, value) => sum + value, 0) / known.length : undefined,
      highest: has ? Math.max(...known) : undefined,
    };
  });
