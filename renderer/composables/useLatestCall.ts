import { ref, shallowRef, type Ref, type ShallowRef } from 'vue';
import type { CallName, ContractError, InputOf, OutputOf } from '../../core/contract/index.ts';
import { createTurns } from './turns.ts';
import { useCall, type CallResult } from './useCall.ts';

export interface LatestCall<N extends CallName> {
  /**
   * Undefined when a later question has been answered already: what is shown is never replaced by something older,
   * whatever order answers come in.
   */
  run(input: InputOf<N>): Promise<CallResult<OutputOf<N>> | undefined>;
  /** A question is not answered yet. */
  readonly pending: Readonly<Ref<boolean>>;
  /** Of the newest answer. */
  readonly error: Readonly<ShallowRef<ContractError | undefined>>;
}

/** A question that is asked again and again: its answers are taken in the order of the questions. */
export const useLatestCall = <N extends CallName>(name: N): LatestCall<N> => {
  const { run: ask } = useCall(name);
  const pending = ref(false);
  const error = shallowRef<ContractError>();
  const turns = createTurns();
  let openCount = 0;
  return {
    pending,
    error,
    async run(input) {
      const turn = turns.next();
      openCount += 1;
      pending.value = true;
      const result = await ask(input);
      openCount -= 1;
      pending.value = openCount > 0;
      if (!turn.take()) return undefined;
      error.value = result.ok ? undefined : result.error;
      return result;
    },
  };
};
