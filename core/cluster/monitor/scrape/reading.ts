import { MEASURES, MEASURES_OF, type Component, type Measure, type MeasureId } from './measures.ts';
import { labelOf, scanMetrics } from './prometheus-text.ts';

/** Cumulative counts up to each bound; the last bound is infinite. */
export interface Buckets {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
}

/** What one scrape of one target said, by `readingKey`. */
export interface Reading {
  /** Of the monotonic clock: rates are made of differences. */
  readonly atMs: number;
  readonly numbers: ReadonlyMap<string, number>;
  readonly histograms: ReadonlyMap<string, Buckets>;
}

/** A measure of one target, or of one label value of it. */
export const readingKey = (measure: MeasureId, by = ''): string => (by === '' ? measure : `${measure}|${by}`);
export const byOf = (key: string): string => {
  const at = key.indexOf('|');
  return at < 0 ? '' : key.slice(at + 1);
};

/** More values of one label than this are not told apart. */
const LABEL_VALUES_MAX = 128;

interface Sink {
  readonly id: MeasureId;
  readonly measure: Measure;
}

const wantedBy = new Map<Component, ReadonlyMap<string, readonly Sink[]>>();

const wantedOf = (component: Component): ReadonlyMap<string, readonly Sink[]> => {
  const known = wantedBy.get(component);
  if (known) return known;
  const wanted = new Map<string, Sink[]>();
  for (const id of MEASURES_OF[component]) {
    const measure: Measure = MEASURES[id];
    const name = measure.kind === 'histogram' ? `${measure.metric}_bucket` : measure.metric;
    const sinks = wanted.get(name) ?? [];
    sinks.push({ id, measure });
    wanted.set(name, sinks);
  }
  wantedBy.set(component, wanted);
  return wanted;
};

const boundOf = (labels: string): number => {
  const le = labelOf(labels, 'le');
  return le === '+Inf' ? Infinity : Number(le);
};

/** The measures of a component in the texts of its pages. */
export const readMeasures = (component: Component, texts: readonly string[], atMs: number): Reading => {
  const numbers = new Map<string, number>();
  const sums = new Map<string, Map<number, number>>();
  const seenBy = new Map<MeasureId, Set<string>>();
  const keyOf = ({ id, measure }: Sink, labels: string): string | undefined => {
    if (measure.by === undefined) return id;
    const value = labelOf(labels, measure.by);
    const seen = seenBy.get(id) ?? new Set<string>();
    seenBy.set(id, seen);
    if (!seen.has(value) && seen.size >= LABEL_VALUES_MAX) return undefined;
    seen.add(value);
    return readingKey(id, value);
  };
  for (const text of texts)
    scanMetrics(text, wantedOf(component), (sinks, labels, value) => {
      for (const sink of sinks) {
        if (sink.measure.isCounted && !sink.measure.isCounted(labels)) continue;
        const key = keyOf(sink, labels);
        if (key === undefined) continue;
        if (sink.measure.kind !== 'histogram') numbers.set(key, (numbers.get(key) ?? 0) + value);
        else {
          const bound = boundOf(labels);
          let counts = sums.get(key);
          if (!counts) sums.set(key, (counts = new Map()));
          counts.set(bound, (counts.get(bound) ?? 0) + value);
        }
      }
    });
  const histograms = new Map<string, Buckets>();
  for (const [key, counts] of sums) {
    const bounds = [...counts.keys()].sort((a, b) => a - b);
    histograms.set(key, { bounds, counts: bounds.map((bound) => counts.get(bound)!) });
  }
  return { atMs, numbers, histograms };
};
