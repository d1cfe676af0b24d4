import { expect, test } from 'vitest';
import { JOB, type Job } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { runOn } from '../workloads/testing/run-controller.ts';
import { TTL_AFTER_FINISHED_CONTROLLER } from './index.ts';

const job = (
  name: string,
  ttlSecondsAfterFinished: number | undefined,
  type?: 'Complete' | 'Failed',
): Job => ({
  metadata: { name },
  spec: {
    template: {},
    ...(ttlSecondsAfterFinished !== undefined && { ttlSecondsAfterFinished }),
  },
  ...(type && {
    status: { conditions: [{ type, status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }] },
  }),
});

const deleting = (api: FakeApi): string[] =>
  api
    .list(JOB)
    .filter(({ metadata }) => metadata.deletionTimestamp)
    .map(({ metadata }) => metadata.name);

test('jobs go in the foreground when their time is over, whether they succeeded or not', async () => {
  const api = new FakeApi();
  api.seed(
    JOB,
    job('at-once', 0, 'Complete'),
    job('later', 30, 'Failed'),
    job('kept', undefined, 'Complete'),
    job('running', 0),
  );
  const { stop } = await runOn(api, TTL_AFTER_FINISHED_CONTROLLER);
  await api.settle();
  expect(deleting(api)).toEqual(['at-once']);
  expect(api.get(JOB, 'at-once').metadata.finalizers).toEqual(['foregroundDeletion']);
  await api.advance(29_000);
  expect(deleting(api)).toEqual(['at-once']);
  await api.advance(1000);
  expect(deleting(api)).toEqual(['at-once', 'later']);
  await stop();
});

test('an expiry extended while the deletion was decided is kept', async () => {
  const api = new FakeApi();
  api.seed(JOB, job('sum', 10, 'Complete'));
  const { stop } = await runOn(api, TTL_AFTER_FINISHED_CONTROLLER);
  await api.settle();
  const hook = api.intercept(({ verb }) => {
    if (verb !== 'get') return;
    hook.dispose();
    api.edit(JOB, 'sum', (object) => (object.spec!.ttlSecondsAfterFinished = 100));
  });
  await api.advance(10_000);
  expect(deleting(api)).toEqual([]);
  await api.advance(90_000);
  expect(deleting(api)).toEqual(['sum']);
  await stop();
});
