import { ref, shallowRef, type Ref, type ShallowRef } from 'vue';
import type { ContractError } from '../../core/contract/index.ts';
import { createTurns } from './turns.ts';
import type { CallResult } from './useCall.ts';

export interface DryRun<Report> {
  /** Of the dry run, then of the change. */
  readonly report: Readonly<ShallowRef<Report | undefined>>;
  readonly error: Readonly<ShallowRef<ContractError | undefined>>;
  readonly pending: Readonly<Ref<boolean>>;
  /** The change was made. */
  readonly isDone: Readonly<Ref<boolean>>;
  /** Forgets the change before and sends the dry run of this one; undefined: there is none. */
  begin(send: Send<Report> | undefined): void;
  /** Makes the change. `isShown` is false where another change is asked about meanwhile. */
  apply(): Promise<{ readonly report: Report; readonly isShown: boolean } | undefined>;
}

type Send<Report> = (dryRun: boolean) => Promise<CallResult<Report>>;

/**
 * A change that shows the server's dry run first. The dialog of a change may be closed and opened for another one while
 * a response is on its way: only responses about the change that is shown are taken.
 */
export const useDryRun = <Report>(): DryRun<Report> => {
  const report = shallowRef<Report>();
  const error = shallowRef<ContractError>();
  const pending = ref(false);
  const isDone = ref(false);
  const turns = createTurns();
  let send: Send<Report> | undefined;
  const ask = async (dryRun: boolean): ReturnType<DryRun<Report>['apply']> => {
    const turn = turns.next();
    if (!send) return undefined;
    pending.value = true;
    error.value = undefined;
    const result = await send(dryRun);
    const isShown = turn.isLast();
    if (isShown) {
      pending.value = false;
      isDone.value = result.ok && !dryRun;
      if (result.ok) report.value = result.value;
      else error.value = result.error;
    }
    return result.ok ? { report: result.value, isShown } : undefined;
  };
  return {
    report,
    error,
    pending,
    isDone,
    begin(next) {
      send = next;
      report.value = undefined;
      error.value = undefined;
      pending.value = false;
      isDone.value = false;
      void ask(true);
    },
    apply: () => ask(false),
  };
};
