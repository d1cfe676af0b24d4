import { onScopeDispose, shallowRef, watch, type ShallowRef } from 'vue';
import type { ChartId, ContractError, MetricsAnswer } from '../../../core/contract/index.ts';
import { useConnection } from '../../bridge/index.ts';
import { createTurns } from '../../composables/turns.ts';
import { useCall } from '../../composables/useCall.ts';
import { usePageVisible } from '../../composables/usePageVisible.ts';
import type { ranges } from './sections.ts';

export interface MetricsView {
  readonly answer: MetricsAnswer;
  readonly fromMs: number;
  readonly toMs: number;
  /** When it was asked, by the console's clock. */
  readonly askedAtMs: number;
}

/** The charts of a section over a range, asked again in its rhythm while a page shows it. */
export const useMetrics = (
  cluster: string,
  charts: () => readonly ChartId[],
  range: () => (typeof ranges)[number],
): {
  readonly view: Readonly<ShallowRef<MetricsView | undefined>>;
  readonly error: Readonly<ShallowRef<ContractError | undefined>>;
  ask(): Promise<void>;
} => {
  const connection = useConnection();
  const visible = usePageVisible();
  const call = useCall('metrics.query');
  const view = shallowRef<MetricsView>();
  const error = shallowRef<ContractError>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const turns = createTurns();

  const ask = async (): Promise<void> => {
    clearTimeout(timer);
    if (!visible.value || !connection.client.value) return;
    const turn = turns.next();
    const { spanMs, points, everyMs } = range();
    const toMs = Date.now();
    const fromMs = toMs - spanMs;
    const result = await call.run({ cluster, charts: [...charts()], fromMs, toMs, points });
    // Another section or range was chosen meanwhile: that answer is on its way.
    if (!turn.isLast()) return;
    if (result.ok) view.value = { answer: result.value, fromMs, toMs, askedAtMs: toMs };
    error.value = result.ok ? undefined : result.error;
    timer = setTimeout(() => void ask(), everyMs);
  };
  watch([charts, range, visible, connection.client], () => void ask(), { immediate: true });
  onScopeDispose(() => {
    turns.end();
    clearTimeout(timer);
  });
  return { view, error, ask };
};
