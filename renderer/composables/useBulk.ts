import { computed, onScopeDispose, ref, shallowRef, type ComputedRef, type Ref, type ShallowRef } from 'vue';
import { messageOf } from '../../core/base/errors.ts';
import type { ApiRequest } from '../../core/contract/index.ts';
import { useConnection } from '../bridge/index.ts';
import { refusalText } from '../locales/refusal-text.ts';

/** Requests that are on their way together; the server has others to answer, too. */
export const BULK_PARALLEL_MAX = 8;

export interface BulkFailure<T> {
  readonly target: T;
  readonly message: string;
}

export interface Bulk<T> {
  readonly phase: Readonly<Ref<'idle' | 'running' | 'cancelling' | 'ended'>>;
  readonly total: Readonly<Ref<number>>;
  readonly doneCount: Readonly<Ref<number>>;
  readonly failures: Readonly<ShallowRef<readonly BulkFailure<T>[]>>;
  readonly isBusy: ComputedRef<boolean>;
  /** Of this run or one before it, since `reset`: what is deleted would be refused if it were asked for again. */
  isDone(target: T): boolean;
  /** True when everything was done. Requests that are on their way when it is cancelled are waited for. */
  run(targets: readonly T[], requestOf: (target: T) => ApiRequest): Promise<boolean>;
  cancel(): void;
  reset(): void;
}

/** One change to many objects, several at a time, with progress; what fails does not keep the others from it. */
export const useBulk = <T>(): Bulk<T> => {
  const connection = useConnection();
  const phase = ref<'idle' | 'running' | 'cancelling' | 'ended'>('idle');
  const total = ref(0);
  const doneCount = ref(0);
  const failures = shallowRef<readonly BulkFailure<T>[]>([]);
  const done = new Set<T>();

  const send = async (target: T, request: ApiRequest): Promise<void> => {
    try {
      const answer = await connection.call('kube.request', request);
      if (answer.ok) {
        doneCount.value += 1;
        done.add(target);
      } else failures.value = [...failures.value, { target, message: refusalText(answer.refusal) }];
    } catch (error) {
      failures.value = [...failures.value, { target, message: messageOf(error) }];
    }
  };
  const cancel = (): void => {
    if (phase.value === 'running') phase.value = 'cancelling';
  };
  onScopeDispose(cancel);
  return {
    phase,
    total,
    doneCount,
    failures,
    isBusy: computed(() => phase.value === 'running' || phase.value === 'cancelling'),
    isDone: (target) => done.has(target),
    cancel,
    reset() {
      if (phase.value === 'running' || phase.value === 'cancelling') return;
      phase.value = 'idle';
      done.clear();
      doneCount.value = 0;
      failures.value = [];
    },
    async run(targets, requestOf) {
      const waiting = [...targets];
      phase.value = 'running';
      total.value = targets.length;
      doneCount.value = 0;
      failures.value = [];
      const work = async (): Promise<void> => {
        while (phase.value === 'running') {
          const target = waiting.shift();
          if (target === undefined) return;
          await send(target, requestOf(target));
        }
      };
      await Promise.all(Array.from({ length: Math.min(BULK_PARALLEL_MAX, targets.length) }, work));
      phase.value = 'ended';
      return doneCount.value === targets.length;
    },
  };
};
