import { effectScope, onScopeDispose, watch, type EffectScope } from 'vue';
import { useConnection } from '../bridge/index.ts';
import { useStream } from '../composables/useStream.ts';

const DEFINITIONS = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' };
/** A server publishes a kind shortly after its definition is written: asked at these times after a change. */
const ASK_AFTER_MS = [300, 1_500, 5_000];

/**
 * Calls `changed` when CustomResourceDefinitions of a cluster were added, changed or deleted, so that their kinds
 * appear and go without a reload. A user who may not list definitions is asked about no more.
 */
export const followDefinitions = (cluster: () => string | undefined, changed: () => void): void => {
  const connection = useConnection();
  let following: EffectScope | undefined;
  let timers: ReturnType<typeof setTimeout>[] = [];
  const stop = (): void => {
    for (const timer of timers) clearTimeout(timer);
    timers = [];
    following?.stop();
    following = undefined;
  };
  const notice = (): void => {
    for (const timer of timers) clearTimeout(timer);
    timers = ASK_AFTER_MS.map((delayMs) => setTimeout(changed, delayMs));
  };
  watch(
    cluster,
    (id) => {
      stop();
      if (id === undefined) return;
      following = effectScope(true);
      following.run(() => {
        let isListed = false;
        const query = {
          cluster: id,
          resource: DEFINITIONS,
          namespace: null,
          labelSelector: '',
          fieldSelector: '',
        };
        useStream(
          'kube.table',
          query,
          (items) => {
            for (const item of items) {
              if (isListed && (item.kind === 'rows' || item.kind === 'gone')) notice();
              if (item.kind === 'listed') isListed = true;
            }
          },
          { connection, pauseWhenHidden: true, onOpening: () => (isListed = false) },
        );
      });
    },
    { immediate: true },
  );
  onScopeDispose(stop);
};
