export {
  Counter,
  Gauge,
  Histogram,
  exponentialBuckets,
  linearBuckets,
  DEFAULT_BUCKETS,
} from './instruments.ts';
export { Family, LABEL_SETS_MAX, OVERFLOW_LABEL } from './family.ts';
export { EXPOSITION_CONTENT_TYPE, formatNumber } from './exposition.ts';
export { Registry } from './registry.ts';
export type { FamilyOptions, HistogramOptions, MetricOptions } from './registry.ts';
