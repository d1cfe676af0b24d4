import { expect, test } from 'vitest';
import { labelOf, scanMetrics } from './prometheus-text.ts';
import { quantileOf } from './quantile.ts';
import { readMeasures } from './reading.ts';
import { Window } from './window.ts';

const TEXT = `# HELP apiserver_request_total Requests.
# TYPE apiserver_request_total counter
apiserver_request_total{code="200",verb="GET"} 90
apiserver_request_total{code="503",verb="GET"} 10
apiserver_request_total_more{code="200"} 7
apiserver_longrunning_requests{verb="WATCH"} 4 1794830439805

apiserver_longrunning_requests{verb="CONNECT"} 9
broken_line{
apiserver_current_inflight_requests{request_kind="readOnly"} 1.5e+01
apiserver_current_inflight_requests{request_kind="mutating"} NaN
apiserver_request_duration_seconds_bucket{verb="GET",le="0.1"} 50
apiserver_request_duration_seconds_bucket{verb="GET",le="1"} 90
apiserver_request_duration_seconds_bucket{verb="GET",le="+Inf"} 100
apiserver_request_duration_seconds_bucket{verb="PUT",le="0.1"} 0
apiserver_request_duration_seconds_bucket{verb="PUT",le="1"} 10
apiserver_request_duration_seconds_bucket{verb="PUT",le="+Inf"} 10
apiserver_request_duration_seconds_bucket{verb="WATCH",le="+Inf"} 1000`;

test('the wanted measures of a text are summed over their labels, with or without a time stamp', () => {
  const { numbers, histograms } = readMeasures('kube-apiserver', [TEXT], 0);
  expect(Object.fromEntries(numbers)).toEqual({
    apiRequests: 100,
    apiFailures: 10,
    apiWatchers: 4,
    'apiInFlight|readOnly': 15,
  });
  expect(histograms.get('apiDuration')).toEqual({ bounds: [0.1, 1, Infinity], counts: [50, 100, 110] });
});

test('a name is not taken for another that begins with it', () => {
  const seen: number[] = [];
  scanMetrics('a 1\nab 2\na{x="1"} 3\nab{x="1"} 4\n', new Map([['a', 1]]), (_what, _labels, value) =>
    seen.push(value),
  );
  expect(seen).toEqual([1, 3]);
});

test.each([
  ['a="1",b="2"', 'b', '2'],
  ['ab="1",b="2"', 'b', '2'],
  [String.raw`a="x,b=\"y\"",b="2"`, 'b', '2'],
  [String.raw`b="line\nquote\"slash\\"`, 'b', 'line\nquote"slash\\'],
  ['a="}",b="{"', 'b', '{'],
  ['a="1"', 'b', ''],
])('of {%s} the label %s is %j', (labels, name, value) => {
  expect(labelOf(labels, name)).toBe(value);
});

test.each([
  [[0, 100, 100], 0.5, 0.55],
  [[100, 100, 100], 0.99, 0.099],
  // Beyond the last finite bound nothing more is known.
  [[0, 0, 100], 0.99, 1],
  [[0, 0, 0], 0.99, undefined],
])('of %j observations the quantile %d is %j', (counts, quantile, expected) => {
  const found = quantileOf({ bounds: [0.1, 1, Infinity], counts }, quantile);
  if (expected === undefined) expect(found).toBeUndefined();
  else expect(found).toBeCloseTo(expected, 6);
});

const reading = (atMs: number, count: number, buckets: readonly number[]) => ({
  atMs,
  numbers: new Map([['apiRequests', count]]),
  histograms: new Map([['apiDuration', { bounds: [0.1, 1, Infinity], counts: buckets }]]),
});

test('a counter that was reset counts from zero, and so does its histogram', () => {
  const window = new Window();
  window.add(reading(0, 100, [100, 100, 100]));
  window.add(reading(5_000, 110, [110, 110, 110]));
  window.add(reading(10_000, 4, [0, 4, 4]));
  expect(window.increase('apiRequests', 0)).toEqual({ amount: 14, seconds: 10 });
  expect(window.observed('apiDuration', 0)?.counts).toEqual([10, 14, 14]);
  expect(window.observed('apiDuration', 5_000)?.counts).toEqual([0, 4, 4]);
});

test('one reading has no increase, and a label set that appears has grown from zero', () => {
  const window = new Window();
  window.add(reading(0, 5, []));
  expect(window.increase('apiRequests', -1)).toBeUndefined();
  window.add({ ...reading(1_000, 5, []), numbers: new Map([['apiFailures', 3]]) });
  expect(window.increase('apiFailures', 0)).toEqual({ amount: 3, seconds: 1 });
});
