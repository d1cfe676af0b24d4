import { onScopeDispose, reactive, ref, shallowRef, watch } from 'vue';
import type { CertificateView } from '../../../core/contract/index.ts';
import { useLatestCall } from '../../composables/useLatestCall.ts';
import { usePageVisible } from '../../composables/usePageVisible.ts';
import { useOperations } from '../../operations/useOperations.ts';
import { isStale } from './certificate-state.ts';

/** A probe is a handshake with every server: seldom is enough, except while one has yet to take up its file. */
const PROBE_EVERY_MS = 60_000;
const PROBE_STALE_EVERY_MS = 3_000;

/** The certificates of one cluster, and what its servers present, while a page shows it. */
export const useCertificates = (cluster: string) => {
  const call = useLatestCall('certificates.list');
  const visible = usePageVisible();
  const { operations } = useOperations(cluster);
  const list = shallowRef<readonly CertificateView[]>();
  const probedAtMs = ref<number>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;

  const probe = async (): Promise<void> => {
    clearTimeout(timer);
    const result = await call.run({ cluster });
    if (isOver || !result) return;
    if (result.ok) {
      list.value = result.value;
      probedAtMs.value = Date.now();
    }
    clearTimeout(timer);
    const isPending = list.value?.some(isStale) ?? false;
    if (visible.value)
      timer = setTimeout(() => void probe(), isPending ? PROBE_STALE_EVERY_MS : PROBE_EVERY_MS);
  };

  watch(visible, (isVisible) => {
    clearTimeout(timer);
    if (isVisible) void probe();
  });
  // After an operation other files may be there, or other servers.
  watch(
    () => operations.value?.filter(({ state }) => state === 'done' || state === 'failed').length,
    (count, before) => {
      if (before !== undefined && count !== before) void probe();
    },
  );
  void probe();
  onScopeDispose(() => {
    isOver = true;
    clearTimeout(timer);
  });
  return reactive({ list, probedAtMs, probe, isProbing: call.pending, error: call.error });
};
