import { expect, test } from 'vitest';
import { formatTime } from '../../api/meta/time.ts';
import { JOB, POD, type Job, type Pod, type Stored } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { finish, makeReady } from '../workloads/testing/pods.ts';
import { runOn } from '../workloads/testing/run-controller.ts';
import { JOB_CONTROLLER } from './index.ts';

const job = (spec: Partial<NonNullable<Job['spec']>> = {}): Job => ({
  metadata: { name: 'sum', uid: 'job-uid' },
  spec: {
    parallelism: 2,
    completions: 3,
    backoffLimit: 6,
    selector: { matchLabels: { job: 'sum' } },
    template: {
      metadata: { labels: { job: 'sum' } },
      spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] },
    },
    ...spec,
  },
});

const start = async (spec: Partial<NonNullable<Job['spec']>> = {}, prepare?: (api: FakeApi) => void) => {
  const api = new FakeApi();
  api.seed(JOB, job(spec));
  prepare?.(api);
  const running = await runOn(api, JOB_CONTROLLER);
  await pass(api);
  return { api, ...running };
};

/** Long enough for batches, too short for any back-off. */
const pass = (api: FakeApi, seconds = 4) => api.advance(seconds * 1000, 1000);

const isRunning = (pod: Stored<Pod>): boolean =>
  !pod.metadata.deletionTimestamp && !['Succeeded', 'Failed'].includes(pod.status?.phase ?? '');
const runningPods = (api: FakeApi): Stored<Pod>[] => api.list(POD).filter(isRunning);
const indexOf = (pod: Stored<Pod>): string =>
  pod.metadata.annotations?.['batch.kubernetes.io/job-completion-index'] ?? '';
const ofIndex = (api: FakeApi, index: number): string =>
  runningPods(api).find((pod) => indexOf(pod) === String(index))!.metadata.name;

const fail = (api: FakeApi, name: string, exitCode = 1): void =>
  void api.edit(POD, name, (pod) => {
    const terminated = { exitCode, finishedAt: formatTime(api.clock.nowMs()) };
    const container = { name: 'c', restartCount: 0, ready: false, image: 'i', imageID: '' };
    pod.status = { phase: 'Failed', containerStatuses: [{ ...container, state: { terminated } }] };
  });

const statusOf = (api: FakeApi) => {
  const { conditions, startTime: _, ...status } = api.get(JOB, 'sum').status!;
  return {
    ...status,
    conditions: (conditions ?? []).map(({ type, reason, message }) => `${type} ${reason} ${message}`),
  };
};

test('a job runs as many pods at the same time as it may, and is complete when all have succeeded', async () => {
  const { api, events, stop } = await start();
  expect(runningPods(api)).toHaveLength(2);
  expect(api.list(POD)[0]!.metadata.finalizers).toEqual(['batch.kubernetes.io/job-tracking']);
  makeReady(api, api.list(POD)[0]!.metadata.name);
  await pass(api);
  expect(statusOf(api)).toMatchObject({ active: 2, ready: 1, terminating: 0 });
  finish(api, api.list(POD)[0]!.metadata.name, 'Succeeded');
  await pass(api);
  for (const { metadata } of runningPods(api)) finish(api, metadata.name, 'Succeeded');
  await pass(api);
  expect(statusOf(api)).toEqual({
    succeeded: 3,
    ready: 0,
    terminating: 0,
    completionTime: expect.stringMatching(/^2026-01-01T/) as string,
    uncountedTerminatedPods: {},
    conditions: [
      'SuccessCriteriaMet CompletionsReached Reached expected number of succeeded pods',
      'Complete CompletionsReached Reached expected number of succeeded pods',
    ],
  });
  expect(api.list(POD).map(({ metadata }) => metadata.finalizers ?? [])).toEqual([[], [], []]);
  expect(events.at(-1)).toBe('Normal Completed Job completed');
  await stop();
});

test('without completions one success is enough, and the others are let finish', async () => {
  const { api, stop } = await start({ completions: undefined as never });
  const [first, second] = api.list(POD).map(({ metadata }) => metadata.name);
  finish(api, first!, 'Succeeded');
  await pass(api);
  expect(runningPods(api)).toHaveLength(1);
  expect(statusOf(api).conditions).toEqual([]);
  finish(api, second!, 'Succeeded');
  await pass(api);
  expect(statusOf(api)).toMatchObject({ succeeded: 2 });
  expect(statusOf(api).conditions).toHaveLength(2);
  await stop();
});

test('failed pods are replaced after 10 s, 20 s, ... until the limit fails the job', async () => {
  const { api, events, stop } = await start({ parallelism: 1, completions: 1, backoffLimit: 1 });
  fail(api, runningPods(api)[0]!.metadata.name);
  await pass(api);
  expect(runningPods(api)).toEqual([]);
  expect(statusOf(api)).toMatchObject({ failed: 1 });
  await pass(api, 8);
  expect(runningPods(api)).toHaveLength(1);
  fail(api, runningPods(api)[0]!.metadata.name);
  await pass(api, 30);
  expect(statusOf(api)).toMatchObject({
    failed: 2,
    conditions: [
      'FailureTarget BackoffLimitExceeded Job has reached the specified backoff limit',
      'Failed BackoffLimitExceeded Job has reached the specified backoff limit',
    ],
  });
  expect(events.at(-1)).toBe('Warning BackoffLimitExceeded Job has reached the specified backoff limit');
  await stop();
});

test('restarts in place count towards the limit', async () => {
  const template = job().spec!.template;
  const { api, stop } = await start({
    parallelism: 1,
    completions: 1,
    backoffLimit: 2,
    template: { ...template, spec: { ...template.spec!, restartPolicy: 'OnFailure' } },
  });
  api.edit(POD, runningPods(api)[0]!.metadata.name, (pod) => {
    const container = { name: 'c', ready: false, image: 'i', imageID: '', restartCount: 2 };
    pod.status = { phase: 'Running', containerStatuses: [container] };
  });
  await pass(api, 6);
  expect(statusOf(api).conditions.at(-1)).toMatch(/^Failed BackoffLimitExceeded/);
  expect(api.list(POD)).toEqual([]);
  await stop();
});

test('the active deadline stops what runs and fails the job', async () => {
  const { api, stop } = await start({ activeDeadlineSeconds: 30 });
  await pass(api, 32);
  expect(runningPods(api)).toEqual([]);
  expect(statusOf(api)).toMatchObject({
    failed: 2,
    conditions: [
      'FailureTarget DeadlineExceeded Job was active longer than specified deadline',
      'Failed DeadlineExceeded Job was active longer than specified deadline',
    ],
  });
  await stop();
});

test('a job is not declared failed while a pod still terminates', async () => {
  const { api, stop } = await start({ activeDeadlineSeconds: 10 });
  const [first] = api.list(POD).map(({ metadata }) => metadata.name);
  api.edit(POD, first!, (pod) => (pod.spec!.nodeName = 'n'));
  await pass(api, 14);
  expect(statusOf(api).conditions).toHaveLength(1);
  expect(statusOf(api)).toMatchObject({ terminating: 1 });
  api.remove(POD, first!);
  await pass(api);
  expect(statusOf(api).conditions).toHaveLength(2);
  await stop();
});

test('a suspended job has no pods and no start; when resumed, its start time is reset', async () => {
  const { api, events, stop } = await start();
  api.edit(JOB, 'sum', (object) => {
    object.spec!.suspend = true;
    object.metadata.generation = 2;
  });
  await pass(api);
  expect(api.list(POD)).toEqual([]);
  expect(statusOf(api).conditions).toEqual(['Suspended JobSuspended Job suspended']);
  expect(api.get(JOB, 'sum').status?.startTime).toBeUndefined();
  api.edit(JOB, 'sum', (object) => {
    object.spec!.suspend = false;
    object.metadata.generation = 3;
  });
  await pass(api);
  expect(runningPods(api)).toHaveLength(2);
  expect(api.get(JOB, 'sum').status?.startTime).toBe('2026-01-01T00:00:08Z');
  expect(events.filter((event) => /Suspended|Resumed/.test(event))).toEqual([
    'Normal Suspended Job suspended',
    'Normal Resumed Job resumed',
  ]);
  await stop();
});

test('an indexed job gives each pod its index, and tells completed ones as intervals', async () => {
  const { api, stop } = await start({ completionMode: 'Indexed', completions: 5, parallelism: 4 });
  expect(runningPods(api).map(indexOf).sort()).toEqual(['0', '1', '2', '3']);
  expect(api.list(POD)[0]).toMatchObject({
    metadata: {
      name: expect.stringMatching(/^sum-0-[a-z0-9]{5}$/) as string,
      labels: { 'batch.kubernetes.io/job-completion-index': '0' },
    },
    spec: {
      hostname: 'sum-0',
      containers: [
        {
          env: [
            {
              name: 'JOB_COMPLETION_INDEX',
              valueFrom: {
                fieldRef: { fieldPath: "metadata.labels['batch.kubernetes.io/job-completion-index']" },
              },
            },
          ],
        },
      ],
    },
  });
  for (const index of [0, 2, 3]) finish(api, ofIndex(api, index), 'Succeeded');
  await pass(api);
  expect(statusOf(api)).toMatchObject({ completedIndexes: '0,2,3', succeeded: 3, active: 2 });
  for (const { metadata } of runningPods(api)) finish(api, metadata.name, 'Succeeded');
  await pass(api);
  expect(statusOf(api)).toMatchObject({ completedIndexes: '0-4', succeeded: 5 });
  expect(statusOf(api).conditions).toHaveLength(2);
  await stop();
});

test('with a limit per index an index fails alone, and the job at the end', async () => {
  const { api, stop } = await start({
    completionMode: 'Indexed',
    completions: 2,
    parallelism: 2,
    backoffLimit: 2 ** 31 - 1,
    backoffLimitPerIndex: 1,
  });
  fail(api, ofIndex(api, 0));
  await pass(api, 14);
  const retried = api.get(POD, ofIndex(api, 0));
  expect(retried.metadata.annotations).toMatchObject({ 'batch.kubernetes.io/job-index-failure-count': '1' });
  fail(api, retried.metadata.name);
  await pass(api);
  expect(statusOf(api)).toMatchObject({ failedIndexes: '0', failed: 2, active: 1 });
  finish(api, ofIndex(api, 1), 'Succeeded');
  await pass(api);
  expect(statusOf(api)).toMatchObject({
    completedIndexes: '1',
    failedIndexes: '0',
    conditions: [
      'FailureTarget FailedIndexes Job has failed indexes',
      'Failed FailedIndexes Job has failed indexes',
    ],
  });
  await stop();
});

test('more failed indexes than allowed fail the job immediately', async () => {
  const { api, stop } = await start({
    completionMode: 'Indexed',
    completions: 4,
    parallelism: 4,
    backoffLimit: 2 ** 31 - 1,
    backoffLimitPerIndex: 0,
    maxFailedIndexes: 1,
  });
  fail(api, ofIndex(api, 0));
  fail(api, ofIndex(api, 1));
  await pass(api, 6);
  expect(statusOf(api).conditions.at(-1)).toBe(
    'Failed MaxFailedIndexesExceeded Job has exceeded the specified maximal number of failed indexes',
  );
  expect(runningPods(api)).toEqual([]);
  await stop();
});

test.each([
  [
    'FailJob',
    42,
    { failed: 1 },
    'Failed PodFailurePolicy Container c for pod default/NAME failed with exit code 42 matching FailJob rule at index 0',
  ],
  ['Ignore', 42, {}, undefined],
  ['Count', 42, { failed: 1 }, undefined],
])('a failure policy with the action %s', async (action, exitCode, status, condition) => {
  const { api, stop } = await start({
    parallelism: 1,
    completions: 1,
    podFailurePolicy: { rules: [{ action, onExitCodes: { operator: 'In', values: [42] } }] },
  });
  const { name } = runningPods(api)[0]!.metadata;
  fail(api, name, exitCode);
  await pass(api, 6);
  const { conditions, failed } = statusOf(api);
  expect({ ...(failed !== undefined && { failed }) }).toEqual(status);
  expect(conditions.at(-1)).toBe(condition?.replace('NAME', name));
  await stop();
});

test('a success policy ends the job while other indexes still run', async () => {
  const { api, stop } = await start({
    completionMode: 'Indexed',
    completions: 3,
    parallelism: 3,
    successPolicy: { rules: [{ succeededIndexes: '1-2', succeededCount: 1 }] },
  });
  finish(api, ofIndex(api, 1), 'Succeeded');
  await pass(api, 6);
  expect(runningPods(api)).toEqual([]);
  expect(statusOf(api)).toMatchObject({
    succeeded: 1,
    completedIndexes: '1',
    conditions: [
      'SuccessCriteriaMet SuccessPolicy Matched rules at index 0',
      'Complete SuccessPolicy Matched rules at index 0',
    ],
  });
  expect(statusOf(api).failed).toBeUndefined();
  await stop();
});

test.each([
  ['TerminatingOrFailed', 2],
  ['Failed', 1],
])('a pod that is being deleted is replaced as podReplacementPolicy %s says', async (policy, podsCount) => {
  const { api, stop } = await start({ parallelism: 1, completions: 1, podReplacementPolicy: policy });
  api.edit(POD, runningPods(api)[0]!.metadata.name, (pod) => {
    pod.spec!.nodeName = 'n';
    pod.metadata.deletionTimestamp = formatTime(api.clock.nowMs() + 300_000);
    pod.metadata.deletionGracePeriodSeconds = 300;
  });
  await pass(api, 14);
  expect(api.list(POD)).toHaveLength(podsCount);
  await stop();
});

test('uids of the status whose pods have no finalizer are counted once, as after a crash', async () => {
  const { api, stop } = await start({}, (seeded) => {
    seeded.edit(JOB, 'sum', (object) => {
      object.status = {
        startTime: '2026-01-01T00:00:00Z',
        succeeded: 1,
        uncountedTerminatedPods: { succeeded: ['counted', 'gone'] },
      };
    });
    seeded.seed(POD, {
      metadata: {
        name: 'ended',
        uid: 'counted',
        labels: { job: 'sum' },
        finalizers: ['batch.kubernetes.io/job-tracking'],
        ownerReferences: [
          { apiVersion: 'batch/v1', kind: 'Job', name: 'sum', uid: 'job-uid', controller: true },
        ],
      },
      spec: { containers: [] },
      status: { phase: 'Succeeded' },
    });
  });
  expect(statusOf(api)).toMatchObject({ succeeded: 3, uncountedTerminatedPods: {} });
  expect(api.list(POD).filter(isRunning)).toEqual([]);
  await stop();
});

test('pods of a job that was deleted lose their finalizer', async () => {
  const { api, stop } = await start();
  api.remove(JOB, 'sum');
  await pass(api);
  expect(api.list(POD).map(({ metadata }) => metadata.finalizers ?? [])).toEqual([[], []]);
  await stop();
});

test('a job that another controller manages is left alone', async () => {
  const { api, stop } = await start({ managedBy: 'example.com/other' });
  expect(api.writes()).toEqual([]);
  await stop();
});

test('a job that is at rest is not written again', async () => {
  const { api, stop } = await start();
  await pass(api, 10);
  api.forgetRequests();
  await pass(api, 60);
  expect(api.writes()).toEqual([]);
  await stop();
});
