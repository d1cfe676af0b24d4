import { defineStore } from 'pinia';
import { messageOf } from '../../core/base/errors.ts';
import { useConnection } from '../bridge/index.ts';
import { fieldsOf } from '../kinds/kube-object.ts';
import type { UndoStep } from '../kinds/undo.ts';
import { t } from '../locales/i18n.ts';
import { useToastStore } from './toasts.ts';

const CONFLICT = 409;
const ATTEMPTS_MAX = 5;

/** Takes changes back, the newest first, and reports what could not be taken back. */
export const useUndoStore = defineStore('undo', () => {
  const connection = useConnection();
  const toasts = useToastStore();

  /** The request against the object as it is now; where it was changed since, as it was, which is a conflict. */
  const onNewest = async (cluster: string, { request, generation }: UndoStep) => {
    if (generation === undefined) return request;
    const answer = await connection.call('kube.request', { cluster, method: 'GET', path: request.path });
    const metadata = answer.ok ? fieldsOf(fieldsOf(answer.body)['metadata']) : {};
    if (metadata['generation'] !== generation) return request;
    const body = fieldsOf(request.body);
    const { resourceVersion } = metadata;
    return { ...request, body: { ...body, metadata: { ...fieldsOf(body['metadata']), resourceVersion } } };
  };

  const send = async (cluster: string, step: UndoStep): Promise<string | undefined> => {
    try {
      for (let attempt = 1; ; attempt += 1) {
        const request = await onNewest(cluster, step);
        const answer = await connection.call('kube.request', { cluster, ...request });
        if (answer.ok) return undefined;
        // A status that was written in between; a change of the object itself stays a conflict.
        const mayRetry = step.generation !== undefined && answer.refusal.code === CONFLICT;
        if (!mayRetry || attempt >= ATTEMPTS_MAX) return answer.refusal.message;
      }
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

  return { undo };
});
