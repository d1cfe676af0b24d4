import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { formatTime } from '../../api/meta/time.ts';
import { CRON_JOB, JOB, type CronJob } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { runOn } from '../workloads/testing/run-controller.ts';
import { CRONJOB_CONTROLLER } from './index.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const cronJob = (spec: Partial<NonNullable<CronJob['spec']>> = {}): CronJob => ({
  metadata: { name: 'tick', uid: 'cj-uid' },
  spec: {
    schedule: '*/10 * * * *',
    jobTemplate: { metadata: { labels: { a: 'b' } }, spec: { template: { spec: { containers: [] } } } },
    ...spec,
  },
});

const start = async (
  spec: Partial<NonNullable<CronJob['spec']>> = {},
  options: { readonly at?: string; prepare?(api: FakeApi): void } = {},
) => {
  const api = new FakeApi(options.at ? { clock: manualClock(Date.parse(options.at)) } : {});
  api.seed(CRON_JOB, cronJob(spec));
  options.prepare?.(api);
  const running = await runOn(api, CRONJOB_CONTROLLER);
  await api.settle();
  return { api, ...running };
};

/** Watches end after some minutes; the clock has to move for the next to begin. */
const reconnect = (api: FakeApi) => api.advance(2000, 500);
const names = (api: FakeApi): string[] => api.list(JOB).map(({ metadata }) => metadata.name);
const minutesOf = (time: string): number => Date.parse(time) / MINUTE_MS;
const end = (api: FakeApi, name: string, type: 'Complete' | 'Failed'): void =>
  void api.edit(JOB, name, (job) => {
    const time = formatTime(api.clock.nowMs());
    job.status = {
      startTime: time,
      conditions: [{ type, status: 'True', lastTransitionTime: time }],
      ...(type === 'Complete' && { completionTime: time }),
    };
  });

test('jobs are created when they are due and named after their time', async () => {
  const { api, events, stop } = await start({ timeZone: 'Europe/Berlin' });
  await api.advance(9 * MINUTE_MS);
  expect(names(api)).toEqual([]);
  await api.advance(MINUTE_MS + 200);
  const name = `tick-${minutesOf('2026-01-01T00:10:00Z')}`;
  expect(api.list(JOB)).toMatchObject([
    {
      metadata: {
        name,
        labels: { a: 'b' },
        annotations: { 'batch.kubernetes.io/cronjob-scheduled-timestamp': '2026-01-01T01:10:00+01:00' },
        ownerReferences: [{ kind: 'CronJob', uid: 'cj-uid', controller: true }],
      },
    },
  ]);
  expect(api.get(CRON_JOB, 'tick').status).toMatchObject({
    lastScheduleTime: '2026-01-01T00:10:00Z',
    active: [{ apiVersion: 'batch/v1', kind: 'Job', name, namespace: 'default' }],
  });
  end(api, name, 'Complete');
  await api.settle();
  expect(api.get(CRON_JOB, 'tick').status).toEqual({
    lastScheduleTime: '2026-01-01T00:10:00Z',
    lastSuccessfulTime: '2026-01-01T00:10:00Z',
  });
  expect(events).toEqual([
    `Normal SuccessfulCreate Created job ${name}`,
    `Normal SawCompletedJob Saw completed job: ${name}, condition: Complete`,
  ]);
  await stop();
});

test.each([
  ['Allow', 2, 2],
  ['Forbid', 1, 1],
  ['Replace', 1, 1],
])('with concurrencyPolicy %s', async (concurrencyPolicy, jobsCount, activeCount) => {
  const { api, stop } = await start({ concurrencyPolicy });
  await api.advance(20 * MINUTE_MS + 200, 5 * MINUTE_MS);
  expect(names(api)).toHaveLength(jobsCount);
  expect(api.get(CRON_JOB, 'tick').status?.active).toHaveLength(activeCount);
  await stop();
});

test('Forbid makes up for the last time once the job is over', async () => {
  const { api, stop } = await start({ concurrencyPolicy: 'Forbid' });
  await api.advance(25 * MINUTE_MS, MINUTE_MS);
  const [first] = names(api);
  end(api, first!, 'Complete');
  await api.settle();
  expect(names(api)).toEqual([first, `tick-${minutesOf('2026-01-01T00:20:00Z')}`]);
  await stop();
});

test('a time that is missed by more than the starting deadline is passed over', async () => {
  const { api, events, stop } = await start(
    { startingDeadlineSeconds: 30 },
    {
      at: '2026-01-01T00:15:00Z',
      prepare: (api) =>
        void api.edit(
          CRON_JOB,
          'tick',
          (object) => (object.metadata.creationTimestamp = '2026-01-01T00:00:00Z'),
        ),
    },
  );
  expect(names(api)).toEqual([]);
  expect(events).toEqual([]);
  await api.advance(5 * MINUTE_MS + 200);
  expect(names(api)).toHaveLength(1);
  await stop();
});

test('of many missed times the last is run, and the number is reported', async () => {
  const { api, events, stop } = await start(
    { schedule: '* * * * *' },
    {
      at: '2026-01-01T10:00:30Z',
      prepare: (api) =>
        void api.edit(
          CRON_JOB,
          'tick',
          (object) => (object.metadata.creationTimestamp = '2026-01-01T00:00:00Z'),
        ),
    },
  );
  expect(names(api)).toEqual([`tick-${minutesOf('2026-01-01T10:00:00Z')}`]);
  expect(events[0]).toBe(
    'Warning TooManyMissedTimes too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew',
  );
  await stop();
});

test('a night job over both changes of the clock: skipped in spring, twice in autumn', async () => {
  const run = async (at: string): Promise<(string | undefined)[]> => {
    const { api, stop } = await start({ schedule: '30 1,2 * * *', timeZone: 'America/New_York' }, { at });
    await api.advance(24 * HOUR_MS, 5 * MINUTE_MS);
    const stamps = api
      .list(JOB)
      .map(({ metadata }) => metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp']);
    await stop();
    return stamps;
  };
  expect(await run('2026-03-08T05:00:00Z')).toEqual(['2026-03-08T01:30:00-05:00']);
  expect(await run('2026-11-01T04:00:00Z')).toEqual([
    '2026-11-01T01:30:00-04:00',
    '2026-11-01T01:30:00-05:00',
    '2026-11-01T02:30:00-05:00',
  ]);
});

test('finished jobs beyond the limits are deleted, oldest first, each kind by its own', async () => {
  const { api, stop } = await start({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 });
  for (const type of ['Complete', 'Failed', 'Complete'] as const) {
    await api.advance(10 * MINUTE_MS + 200, 5 * MINUTE_MS + 100);
    end(api, names(api).at(-1)!, type);
    await reconnect(api);
  }
  expect(names(api)).toEqual([`tick-${minutesOf('2026-01-01T00:30:00Z')}`]);
  await stop();
});

test('a suspended cron job makes nothing; a wrong zone or schedule is reported', async () => {
  const suspended = await start({ suspend: true });
  await suspended.api.advance(30 * MINUTE_MS, 10 * MINUTE_MS);
  expect(names(suspended.api)).toEqual([]);
  await suspended.stop();
  const lost = await start({ timeZone: 'Mars/Olympus' });
  expect(lost.events).toEqual([
    'Warning UnknownTimeZone invalid timeZone: "Mars/Olympus": unknown time zone Mars/Olympus',
  ]);
  await lost.stop();
  const wrong = await start({ schedule: 'often' });
  expect(wrong.events[0]).toBe(
    'Warning UnparseableSchedule unparseable schedule: "often" : expected exactly 5 fields, found 1: [often]',
  );
  await wrong.stop();
});

test('a job created before a crash is adopted, not created again', async () => {
  const { api, stop } = await start();
  const lost = api.intercept(({ verb, subresource }) => {
    if (verb !== 'update' || subresource !== 'status') return;
    lost.dispose();
    throw new Error('killed');
  });
  await api.advance(10 * MINUTE_MS + 200);
  await stop();
  const again = await runOn(api, CRONJOB_CONTROLLER);
  await api.settle();
  expect(names(api)).toHaveLength(1);
  expect(api.get(CRON_JOB, 'tick').status?.active).toHaveLength(1);
  await again.stop();
});

test('an active job that is gone is reported and forgotten', async () => {
  const { api, events, stop } = await start();
  await api.advance(10 * MINUTE_MS + 200);
  const [name] = names(api);
  api.remove(JOB, name!);
  await reconnect(api);
  expect(events.at(-1)).toBe(`Normal MissingJob Active job went missing: ${name}`);
  expect(api.get(CRON_JOB, 'tick').status?.active).toBeUndefined();
  await stop();
});
