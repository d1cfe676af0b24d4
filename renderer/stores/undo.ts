import { defineStore } from 'pinia';
import { shallowRef } from 'vue';
import { messageOf } from '../../core/base/errors.ts';
import { useConnection } from '../bridge/index.ts';
import type { UndoStep } from '../kinds/undo.ts';
import { t } from '../locales/i18n.ts';
import { useToastStore } from './toasts.ts';

/** Takes changes back, the newest first, and reports what could not be taken back. */
export const useUndoStore = defineStore('undo', () => {
  /** What the last apply changed, until it is undone or another one follows; it outlives the editor's page. */
  const lastApply = shallowRef<{ readonly cluster: string; readonly steps: readonly UndoStep[] }>();
  const connection = useConnection();
  const toasts = useToastStore();

  const send = async (cluster: string, { request }: UndoStep): Promise<string | undefined> => {
    try {
      const answer = await connection.call('kube.request', { cluster, ...request });
      return answer.ok ? undefined : answer.refusal.message;
    } catch (error) {
      return messageOf(error);
    }
  };

  const undo = async (cluster: string, steps: readonly UndoStep[]): Promise<void> => {
    const failures: string[] = [];
    for (const step of [...steps].reverse()) {
      const why = await send(cluster, step);
      if (why !== undefined) failures.push(`${step.title}: ${why}`);
    }
    if (failures.length === 0)
      toasts.show({ severity: 'ok', title: t('takeBack.done', { count: steps.length }) });
    else
      toasts.show({
        severity: 'error',
        title: t('takeBack.failed', { count: failures.length, total: steps.length }),
        detail: failures.join('\n'),
      });
  };
  const undoApply = async (): Promise<void> => {
    const taken = lastApply.value;
    if (!taken) return;
    lastApply.value = undefined;
    await undo(taken.cluster, taken.steps);
  };

  return { lastApply, undo, undoApply };
});
