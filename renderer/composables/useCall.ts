import { ref, shallowRef, type Ref, type ShallowRef } from 'vue';
import {
  type CallName,
  ContractError,
  type InputOf,
  type OutputOf,
  saidOf,
} from '../../core/contract/index.ts';
import { useConnection } from '../bridge/index.ts';

export type CallResult<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: ContractError };

const asContractError = (error: unknown): ContractError =>
  error instanceof ContractError ? error : new ContractError('Internal', saidOf(error), { cause: error });

/** One call of the contract with what a form needs to know: is it running, and why did the last one fail. */
export const useCall = <N extends CallName>(
  name: N,
): {
  run(input: InputOf<N>): Promise<CallResult<OutputOf<N>>>;
  readonly pending: Readonly<Ref<boolean>>;
  readonly error: Readonly<ShallowRef<ContractError | undefined>>;
  clear(): void;
} => {
  const connection = useConnection();
  const pending = ref(false);
  const error = shallowRef<ContractError>();
  return {
    pending,
    error,
    clear: () => (error.value = undefined),
    async run(input) {
      pending.value = true;
      error.value = undefined;
      try {
        return { ok: true, value: await connection.call(name, input) };
      } catch (thrown) {
        error.value = asContractError(thrown);
        return { ok: false, error: error.value };
      } finally {
        pending.value = false;
      }
    },
  };
};
