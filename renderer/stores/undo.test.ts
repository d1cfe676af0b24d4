// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import type { ApiAnswer, ApiRequest } from '../../core/contract/index.ts';
import { inApp, testConnection } from '../testing/mount.ts';
import { undoOfApply } from '../kinds/undo.ts';
import { useToastStore } from './toasts.ts';
import { useUndoStore } from './undo.ts';

const deployments = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  namespaced: true,
  kind: 'Deployment',
} as const;
const metadata = (resourceVersion: string, generation: number) => ({
  name: 'web',
  namespace: 'default',
  resourceVersion,
  generation,
});
const refused = (code: number, message: string): ApiAnswer => ({
  ok: false,
  refusal: { code, reason: 'Conflict', message, causes: [] },
});

/** A server whose object has a generation, and whose status is written before the first two updates. */
const undoAgainst = async (generation: number) => {
  let [version, statusWrites] = [7, 2];
  const put: ApiRequest[] = [];
  const connection = testConnection({
    'kube.request': (request) => {
      if (request.method === 'GET')
        return Promise.resolve({ ok: true, body: { metadata: metadata(`${version}`, generation) } });
      if (statusWrites > 0) [statusWrites, version] = [statusWrites - 1, version + 1];
      const sent = request.body as { metadata: { resourceVersion: string } };
      if (sent.metadata.resourceVersion !== `${version}`)
        return Promise.resolve(refused(409, 'the object has been modified'));
      put.push(request);
      return Promise.resolve({ ok: true, body: null });
    },
  });
  const app = await inApp(() => ({ undo: useUndoStore(), toasts: useToastStore() }), connection);
  const step = undoOfApply(deployments, {
    outcome: 'configured',
    live: { metadata: metadata('4', 1), spec: { replicas: 1 } },
    result: { metadata: metadata('5', 2) },
  })!;
  await app.value.undo.undo('c', [step]);
  const severity = app.value.toasts.shown.at(-1)?.severity;
  app.unmount();
  return [severity, put.map(({ body }) => (body as { spec: unknown }).spec)];
};

test('an apply is undone although controllers have written the status since', async () => {
  expect(await undoAgainst(2)).toEqual(['ok', [{ replicas: 1 }]]);
});

test('an object that another client has changed since is left as it is', async () => {
  expect(await undoAgainst(3)).toEqual(['error', []]);
});
