import { defineStore } from 'pinia';
import { shallowRef } from 'vue';
import type { ClusterAction, HostState } from '../../core/contract/index.ts';

/** The question that is open, wherever it was asked: one dialog of the shell serves all pages. */
export const useActionStore = defineStore('action', () => {
  const asking = shallowRef<{ readonly cluster: string; readonly action: ClusterAction }>();
  /** The host that something is to be broken on. */
  const breaking = shallowRef<{ readonly cluster: string; readonly host: string }>();
  /** The hosts of a cluster as last seen, so that they can be found by typing on every page. */
  const known = shallowRef<{ readonly cluster: string; readonly hosts: readonly HostState[] }>();
  return {
    asking,
    breaking,
    known,
    ask: (cluster: string, action: ClusterAction): void => void (asking.value = { cluster, action }),
    breakOn: (cluster: string, host: string): void => void (breaking.value = { cluster, host }),
    leaveWhole: (): void => void (breaking.value = undefined),
    close: (): void => void (asking.value = undefined),
    remember: (cluster: string, hosts: readonly HostState[]): void => void (known.value = { cluster, hosts }),
  };
});
