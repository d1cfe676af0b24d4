import { assert } from '../assert.ts';
import { toDisposable, type Disposable } from '../disposable.ts';
import { escapeHelp, formatNumber, sampleLine, type Label } from './exposition.ts';
import { Family, LABEL_SETS_MAX } from './family.ts';
import { Counter, Gauge, Histogram } from './instruments.ts';

export interface MetricOptions {
  readonly name: string;
  readonly help: string;
}
export interface HistogramOptions extends MetricOptions {
  readonly buckets: readonly number[];
}
export interface FamilyOptions<Labels extends readonly string[]> extends MetricOptions {
  readonly labels: Labels;
  readonly labelSetsMax?: number;
}

type MetricType = 'counter' | 'gauge' | 'histogram';
type Instrument = Counter | Gauge | Histogram | { readonly value: number };
interface Sample {
  readonly labels: readonly Label[];
  readonly instrument: Instrument;
}
interface Metric extends MetricOptions {
  readonly type: MetricType;
  samples(): readonly Sample[];
}

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Every metric of one component. A name is registered once; two owners of one name are a defect. */
export class Registry {
  readonly #metrics = new Map<string, Metric>();
  readonly #beforeExpose = new Set<() => void>();

  counter(options: MetricOptions): Counter {
    return this.#single(options, 'counter', new Counter());
  }

  gauge(options: MetricOptions): Gauge {
    return this.#single(options, 'gauge', new Gauge());
  }

  histogram(options: HistogramOptions): Histogram {
    return this.#single(options, 'histogram', new Histogram(options.buckets));
  }

  /** Read when exposed. `read` must be quick and must not throw. */
  gaugeFunction(options: MetricOptions, read: () => number): void {
    this.#single(options, 'gauge', readingOf(read));
  }

  counterFunction(options: MetricOptions, read: () => number): void {
    this.#single(options, 'counter', readingOf(read));
  }

  counterFamily<const Labels extends readonly string[]>(
    options: FamilyOptions<Labels>,
  ): Family<Counter, Labels> {
    return this.#family(options, 'counter', () => new Counter());
  }

  gaugeFamily<const Labels extends readonly string[]>(options: FamilyOptions<Labels>): Family<Gauge, Labels> {
    return this.#family(options, 'gauge', () => new Gauge());
  }

  histogramFamily<const Labels extends readonly string[]>(
    options: FamilyOptions<Labels> & HistogramOptions,
  ): Family<Histogram, Labels> {
    assert(!options.labels.includes('le'), `${options.name}: le is the histogram's own label`);
    return this.#family(options, 'histogram', () => new Histogram(options.buckets));
  }

  /** Runs before each exposition, for gauges that are computed only when they are read. */
  beforeExpose(run: () => void): Disposable {
    this.#beforeExpose.add(run);
    return toDisposable(() => this.#beforeExpose.delete(run));
  }

  /** The text that a scrape gets: families by name, samples by label values, empty families left out. */
  expose(): string {
    for (const run of this.#beforeExpose) run();
    const names = [...this.#metrics.keys()].sort();
    return names.map((name) => exposeMetric(this.#metrics.get(name)!)).join('');
  }

  #single<T extends Instrument>(options: MetricOptions, type: MetricType, instrument: T): T {
    const samples = [{ labels: [], instrument }];
    this.#add({ name: options.name, help: options.help, type, samples: () => samples });
    return instrument;
  }

  #family<T extends Instrument, Labels extends readonly string[]>(
    options: FamilyOptions<Labels>,
    type: MetricType,
    make: () => T,
  ): Family<T, Labels> {
    for (const label of options.labels) assert(LABEL_NAME.test(label), `${label} is no label name`);
    const family = new Family<T, Labels>(options.labels, make, options.labelSetsMax ?? LABEL_SETS_MAX);
    this.#add({ name: options.name, help: options.help, type, samples: () => samplesOf(family) });
    return family;
  }

  #add(metric: Metric): void {
    assert(METRIC_NAME.test(metric.name), `${metric.name} is no metric name`);
    assert(!this.#metrics.has(metric.name), `metric ${metric.name} is registered twice`);
    this.#metrics.set(metric.name, metric);
  }
}

const readingOf = (read: () => number): { readonly value: number } => ({
  get value() {
    return read();
  },
});

/** Labels by name and samples by value, as client_golang sorts them. */
const samplesOf = <T extends Instrument>(family: Family<T, readonly string[]>): readonly Sample[] => {
  const order = family.labelNames
    .map((_, i) => i)
    .sort((a, b) => compare(family.labelNames[a]!, family.labelNames[b]!));
  return [...family.children]
    .map(({ values, instrument }) => ({
      labels: order.map((i) => ({ name: family.labelNames[i]!, value: values[i]! })),
      instrument,
    }))
    .sort((a, b) => compareLabels(a.labels, b.labels));
};

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const compareLabels = (a: readonly Label[], b: readonly Label[]): number => {
  for (let i = 0; i < a.length; i += 1) {
    const order = compare(a[i]!.value, b[i]!.value);
    if (order !== 0) return order;
  }
  return 0;
};

const exposeMetric = (metric: Metric): string => {
  const samples = metric.samples();
  if (samples.length === 0) return '';
  const lines = samples.map(({ labels, instrument }) =>
    instrument instanceof Histogram
      ? exposeHistogram(metric.name, labels, instrument)
      : sampleLine(metric.name, labels, formatNumber(instrument.value)),
  );
  return `# HELP ${metric.name} ${escapeHelp(metric.help)}\n# TYPE ${metric.name} ${metric.type}\n${lines.join('')}`;
};

/** Counts are integers and print without an exponent, unlike every other number here. */
const exposeHistogram = (name: string, labels: readonly Label[], histogram: Histogram): string => {
  const bucket = (le: string, count: number): string =>
    sampleLine(`${name}_bucket`, [...labels, { name: 'le', value: le }], String(count));
  const counts = histogram.cumulativeCounts();
  return [
    ...counts.map((count, i) => bucket(formatNumber(histogram.bounds[i]!), count)),
    bucket('+Inf', histogram.count),
    sampleLine(`${name}_sum`, labels, formatNumber(histogram.sum)),
    sampleLine(`${name}_count`, labels, String(histogram.count)),
  ].join('');
};
