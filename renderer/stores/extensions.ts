import { defineStore } from 'pinia';
import { computed, shallowRef, watch } from 'vue';
import type { ExtensionEntry, ExtensionList } from '../../core/contract/index.ts';
import { useConnection } from '../bridge/index.ts';
import { createTurns } from '../composables/turns.ts';
import { useCall, type CallResult } from '../composables/useCall.ts';

/** The extensions of this console: read when the host is reached, and again when their page opens. */
export const useExtensionStore = defineStore('extensions', () => {
  const connection = useConnection();
  const ask = useCall('extensions.list');
  const consent = useCall('extensions.allow');
  const withdraw = useCall('extensions.revoke');
  const list = shallowRef<ExtensionList>();
  const turns = createTurns();

  /** An answer to an earlier question never replaces a later one. */
  const take = async (asked: () => Promise<CallResult<ExtensionList>>): Promise<boolean> => {
    const turn = turns.next();
    const result = await asked();
    if (result.ok && turn.take()) list.value = result.value;
    return result.ok;
  };
  const reload = (): Promise<boolean> => take(() => ask.run(undefined));
  const allow = ({ name, fingerprint }: ExtensionEntry): Promise<boolean> =>
    take(() => consent.run({ name, fingerprint }));
  const revoke = ({ name }: ExtensionEntry): Promise<boolean> => take(() => withdraw.run({ name }));

  watch(
    () => connection.state.value.phase,
    (phase) => {
      if (phase === 'live') void reload();
    },
    { immediate: true },
  );

  return {
    list,
    /** In the navigation: those that were allowed, also while their files wait for another consent. */
    shown: computed(() =>
      (list.value?.extensions ?? []).filter(({ isAllowed, wasAllowed }) => isAllowed || wasAllowed),
    ),
    reload,
    reading: ask.pending,
    readError: ask.error,
    allow,
    allowing: consent.pending,
    allowError: consent.error,
    revoke,
    revokeError: withdraw.error,
  };
});
