import { computed, shallowRef, type ComputedRef, type ShallowRef } from 'vue';
import type { DrillRequest, DrillRun, DrillView, DrillWords } from '../../../core/contract/index.ts';
import { useCall } from '../../composables/useCall.ts';
import { useStream } from '../../composables/useStream.ts';
import { locale } from '../../locales/i18n.ts';

/** What a drill says in the language of the reader, where it has been translated. */
export const wordsOf = (run: Pick<DrillRun, 'words' | 'german'>): DrillWords =>
  locale.value === 'de' ? (run.german ?? run.words) : run.words;

export interface DrillOfCluster {
  readonly view: Readonly<ShallowRef<DrillView | undefined>>;
  readonly asking: Readonly<ShallowRef<DrillRequest['kind'] | undefined>>;
  readonly error: ComputedRef<string | undefined>;
  /** True when it was taken. */
  ask(request: DrillRequest): Promise<boolean>;
}

/** The drill of one cluster: what is known of it, and one request after the other. */
export const useDrill = (cluster: string): DrillOfCluster => {
  const view = shallowRef<DrillView>();
  const asking = shallowRef<DrillRequest['kind']>();
  const { run, error } = useCall('drills.request');
  /** The host refuses a request while it is busy with another; a click in between must not be lost. */
  let before: Promise<unknown> = Promise.resolve();
  useStream('drills.watch', { cluster }, (items) => (view.value = items.at(-1)), { pauseWhenHidden: true });
  return {
    view,
    asking,
    error: computed(() => error.value?.message),
    ask(request) {
      const turn = before.then(async () => {
        asking.value = request.kind;
        const result = await run({ cluster, request });
        asking.value = undefined;
        if (result.ok) view.value = result.value;
        return result.ok;
      });
      before = turn;
      return turn;
    },
  };
};
