import { expect, test } from 'vitest';
import { exponentialBuckets, formatNumber, Histogram, Registry } from './index.ts';

test('numbers print as Go prints them', () => {
  const printed = {
    '0': 0,
    '1': 1,
    '-1': -1,
    '0.14': 0.14,
    '0.0001': 0.0001,
    '1e-05': 0.00001,
    '2.5e-09': 2.5e-9,
    '524288': 524288,
    '999999': 999999,
    '123456.75': 123456.75,
    '1e+06': 1e6,
    '1.048576e+06': 1048576,
    '1.794808107074007e+09': 1794808107.074007,
    '1.8446744073709552e+19': 2 ** 64,
    '1e+100': 1e100,
    NaN: NaN,
    '+Inf': Infinity,
    '-Inf': -Infinity,
  };
  expect(Object.values(printed).map(formatNumber)).toEqual(Object.keys(printed));
});

test('a scrape lists families by name, labels by name, samples by value and buckets cumulatively', () => {
  const registry = new Registry();
  const sent = registry.counterFamily({ name: 'sent_bytes_total', help: 'Sent.', labels: ['To', 'From'] });
  sent.labels('b', 'x').inc(2_000_000);
  sent.labels('a', 'y').inc();
  sent.labels('c', 'x').inc(0);
  registry.gauge({ name: 'has_leader', help: 'Whether or not a leader exists.' }).set(1);
  registry.gaugeFunction({ name: 'a_read', help: 'Read late.' }, () => 0.5);
  const took = registry.histogram({
    name: 'took_seconds',
    help: 'Took.',
    buckets: exponentialBuckets(0.001, 2, 3),
  });
  for (const value of [0.001, 0.0015, 0.004, 9]) took.observe(value);
  registry.gaugeFamily({ name: 'nobody', help: 'No label sets yet.', labels: ['x'] });
  expect(registry.expose()).toBe(`# HELP a_read Read late.
# TYPE a_read gauge
a_read 0.5
# HELP has_leader Whether or not a leader exists.
# TYPE has_leader gauge
has_leader 1
# HELP sent_bytes_total Sent.
# TYPE sent_bytes_total counter
sent_bytes_total{From="x",To="b"} 2e+06
sent_bytes_total{From="x",To="c"} 0
sent_bytes_total{From="y",To="a"} 1
# HELP took_seconds Took.
# TYPE took_seconds histogram
took_seconds_bucket{le="0.001"} 1
took_seconds_bucket{le="0.002"} 2
took_seconds_bucket{le="0.004"} 3
took_seconds_bucket{le="+Inf"} 4
took_seconds_sum 9.0065
took_seconds_count 4
`);
});

test('help and label values are escaped, quotes only where they end a value', () => {
  const registry = new Registry();
  registry
    .gaugeFamily({ name: 'g', help: 'a "b" \\ c\nd', labels: ['l'] })
    .labels('a "b" \\ c\nd')
    .set(1);
  expect(registry.expose()).toBe(
    '# HELP g a "b" \\\\ c\\nd\n# TYPE g gauge\ng{l="a \\"b\\" \\\\ c\\nd"} 1\n',
  );
});

test('a full family counts what comes after under other', () => {
  const registry = new Registry();
  const family = registry.counterFamily({ name: 'c', help: 'h', labels: ['who', 'what'], labelSetsMax: 2 });
  for (let i = 0; i < 10; i += 1) family.labels(String(i), 'x').inc();
  family.labels('1', 'x').inc();
  expect(registry.expose().split('\n').slice(2, -1)).toEqual([
    'c{what="other",who="other"} 8',
    'c{what="x",who="0"} 1',
    'c{what="x",who="1"} 2',
  ]);
});

test('a removed label set is exposed no more, and hooks run before each scrape', () => {
  const registry = new Registry();
  const family = registry.gaugeFamily({ name: 'rtt', help: 'h', labels: ['To'] });
  family.labels('gone').set(1);
  family.remove('gone');
  let scrapes = 0;
  const hook = registry.beforeExpose(() => family.labels('here').set((scrapes += 1)));
  registry.expose();
  const second = registry.expose();
  hook.dispose();
  expect([second, registry.expose()]).toEqual([
    '# HELP rtt h\n# TYPE rtt gauge\nrtt{To="here"} 2\n',
    '# HELP rtt h\n# TYPE rtt gauge\nrtt{To="here"} 2\n',
  ]);
});

test('a name is registered once, a counter never falls, bounds rise', () => {
  const registry = new Registry();
  const counter = registry.counter({ name: 'c', help: 'h' });
  expect(() => registry.gauge({ name: 'c', help: 'h' })).toThrow('registered twice');
  expect(() => registry.gauge({ name: '1c', help: 'h' })).toThrow('no metric name');
  expect(() => counter.inc(-1)).toThrow('only grows');
  expect(() => new Histogram([1, 1])).toThrow('must rise');
});
