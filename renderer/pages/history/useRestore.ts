import { onScopeDispose, shallowRef, type ShallowRef } from 'vue';
import {
  ContractError,
  say,
  type InputOf,
  type RestoreReport,
  type RestoreStep,
} from '../../../core/contract/index.ts';
import { useConnection } from '../../bridge/index.ts';
import type { CallResult } from '../../composables/useCall.ts';

export interface Restoring {
  /** How far the newest restore has come, or had come when it was cancelled. */
  readonly step: Readonly<ShallowRef<RestoreStep | undefined>>;
  /** Ends the restore before. Resolves with the report, or with why there is none. */
  run(request: InputOf<'history.restore'>): Promise<CallResult<RestoreReport>>;
  /** No further object is read or written; what was restored stays. */
  cancel(): void;
}

export const useRestore = (): Restoring => {
  const connection = useConnection();
  const step = shallowRef<RestoreStep>();
  let end: ((error: ContractError) => void) | undefined;
  const cancel = (): void => end?.(new ContractError('Cancelled', say('failure.history.cancelled')));
  onScopeDispose(cancel);

  const run: Restoring['run'] = (request) => {
    cancel();
    step.value = undefined;
    return new Promise((resolve) => {
      const client = connection.client.value;
      if (!client) {
        resolve({ ok: false, error: new ContractError('Unavailable', say('failure.notConnected')) });
        return;
      }
      const finish = (result: CallResult<RestoreReport>): void => {
        if (end !== fail) return;
        end = undefined;
        stream.dispose();
        resolve(result);
      };
      const fail = (error: ContractError): void => finish({ ok: false, error });
      end = fail;
      const stream = client.open('history.restore', request, {
        onBatch(steps) {
          const newest = steps.at(-1);
          if (!newest || end !== fail) return;
          step.value = newest;
          if (newest.report) finish({ ok: true, value: newest.report });
        },
        onEnd: (error) => fail(error ?? new ContractError('Internal', say('failure.history.cancelled'))),
      });
    });
  };
  return { step, run, cancel };
};
