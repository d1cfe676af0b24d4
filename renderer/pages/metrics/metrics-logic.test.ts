import { expect, test } from 'vitest';
import type { CriticalMetric } from '../../../core/contract/index.ts';
import { chartOption, drawnThresholds, type ChartTheme } from './chart-option.ts';
import { coloursOf, indexAt, shownSeries, summaries } from './chart-series.ts';
import { ceilingOf, formatTick, formatValue } from './chart-units.ts';
import { thresholdsOf } from './sections.ts';

const theme: ChartTheme = {
  series: ['a', 'b'],
  grid: 'g',
  axis: 'x',
  text: 't',
  threshold: 'r',
  stale: 's',
  font: 'f',
  fill: 0.1,
};
const line = (name: string, ...values: (number | null)[]) => ({ name, values });

test('a name keeps its colour in every chart, numbers sort as numbers, and hosts come before their parts', () => {
  const colours = coloursOf([
    { chart: 'etcdPuts', series: [line('cp-10', 1), line('cp-1 mutating', 1), line('cp-2', 1)] },
    { chart: 'etcdDbBytes', series: [line('cp-1', 1)] },
  ]);
  expect([...colours]).toEqual([
    ['cp-1', 1],
    ['cp-2', 2],
    ['cp-10', 3],
    ['cp-1 mutating', 4],
  ]);
});

test('the six lines that reach highest are drawn; lines without a sample are none', () => {
  const series = [...'abcdefgh'].map((name, index) => line(name, index, null));
  const { shown, hidden } = shownSeries([...series, line('empty', null)], new Map());
  expect([shown.map(({ name }) => name).join(''), hidden]).toEqual(['cdefgh', 2]);
});

test('two lines of one chart never share a colour', () => {
  const { shown } = shownSeries(
    [line('a', 1), line('b', 1)],
    new Map([
      ['a', 8],
      ['b', 8],
    ]),
  );
  expect(shown.map(({ colour }) => colour)).toEqual([8, 1]);
});

test('values are reported in the unit a person would choose', () => {
  expect([
    formatValue('seconds', 0.0064),
    formatValue('seconds', 2),
    formatValue('ratio', 0.012),
    formatValue('cores', 0.25),
    formatValue('perSecond', 212),
    formatTick('seconds', 0.005),
  ]).toEqual(['6.4 ms', '2.0 s', '1.2 %', '250m', '212 /s', '5 ms']);
});

test('the scale ends at a round number whose half is round too', () => {
  expect([
    ceilingOf('count', 3),
    ceilingOf('perSecond', 21),
    ceilingOf('bytes', 1.2 * 2 ** 30),
    ceilingOf('ratio', 3),
  ]).toEqual([4, 40, 1.5 * 2 ** 30, 1]);
});

test('a limit that would press the data flat is not drawn', () => {
  const series = [{ ...line('a', 0.004), colour: 1 }];
  expect(drawnThresholds('seconds', series, [0.01, 1])).toEqual([0.01]);
});

test('gaps stay gaps, and the limit is a line', () => {
  const option = chartOption(
    {
      unit: 'count',
      timesMs: [0, 5, 10],
      fromMs: 0,
      toMs: 10,
      series: [{ ...line('a', 4, null, 5), colour: 2 }],
      thresholds: [8],
      isStale: false,
      formatTime: String,
    },
    theme,
  );
  expect(option.series[0]).toMatchObject({
    color: 'b',
    connectNulls: false,
    data: [
      { value: [0, 4], symbol: 'circle' },
      { value: [5, null], symbol: 'none' },
      { value: [10, 5], symbol: 'circle' },
    ],
    markLine: { data: [{ yAxis: 8 }] },
  });
});

test('only limits in the unit of the chart are lines of it', () => {
  const metric = (over: Partial<CriticalMetric>): CriticalMetric => ({
    id: 'apiInFlight',
    unit: 'ratio',
    value: 0.1,
    threshold: 0.8,
    state: 'ok',
    sinceMs: null,
    subject: '',
    chart: 'apiInFlight',
    ...over,
  });
  expect(thresholdsOf('apiInFlight', [metric({}), metric({ unit: 'count', threshold: 40 })])).toEqual([40]);
});

test('the cursor takes the nearest moment; a table says what the lines say', () => {
  expect([indexAt([0, 10, 20], 14), indexAt([0, 10, 20], 16), indexAt([0, 10, 20], 99)]).toEqual([1, 2, 2]);
  expect(summaries([line('a', 1, null, 3)])).toEqual([
    { name: 'a', last: 3, lowest: 1, mean: 2, highest: 3 },
  ]);
  expect(summaries([line('killed', 1, 3, null, null, null)])[0]?.last).toBeUndefined();
});
