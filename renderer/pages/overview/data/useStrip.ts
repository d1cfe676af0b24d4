import { computed, shallowRef } from 'vue';
import type { ChartId, MetricsAnswer } from '../../../../core/contract/index.ts';
import { useCall } from '../../../composables/useCall.ts';
import { usePoll } from '../../../composables/usePoll.ts';

const STRIP_PAUSE_MS = 10_000;
const SPAN_MS = 15 * 60_000;
export const STRIP_POINTS = 60;

type Values = readonly (number | undefined)[];

/** One line out of many: of a rate all servers together, of a latency the worst. */
const together = (answer: MetricsAnswer, chart: ChartId, how: 'sum' | 'worst'): Values => {
  const series = answer.charts.find((each) => each.chart === chart)?.series ?? [];
  return answer.timesMs.map((_, index) => {
    const values = series.map(({ values: all }) => all[index]).filter((value) => typeof value === 'number');
    if (values.length === 0) return undefined;
    return how === 'sum' ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values);
  });
};

/** Samples that may be late; after that there is no present value. */
const LATE_SAMPLES_MAX = 2;
const lastOf = (values: Values): number | undefined =>
  values.slice(-1 - LATE_SAMPLES_MAX).findLast((value) => value !== undefined);

/** The figures above the map, with the shape of their last quarter of an hour. */
export const useStrip = (cluster: string) => {
  const ask = useCall('metrics.query');
  const answer = shallowRef<MetricsAnswer>();
  usePoll(async () => {
    const toMs = Date.now();
    const result = await ask.run({
      cluster,
      charts: ['apiRequests', 'apiLatencyP99', 'etcdFsyncP99'],
      fromMs: toMs - SPAN_MS,
      toMs,
      points: STRIP_POINTS,
    });
    if (result.ok) answer.value = result.value;
  }, STRIP_PAUSE_MS);
  const figure = (chart: ChartId, how: 'sum' | 'worst') =>
    computed(() => {
      const values = answer.value ? together(answer.value, chart, how) : [];
      return { values, last: lastOf(values) };
    });
  return {
    requests: figure('apiRequests', 'sum'),
    latency: figure('apiLatencyP99', 'worst'),
    fsync: figure('etcdFsyncP99', 'worst'),
  };
};
