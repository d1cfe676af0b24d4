import { seededRandom, type Random } from '../../../base/random.ts';
import { TransportError } from '../../../client/rest/transport.ts';
import { controllerOf } from '../../../api/meta/object-meta.ts';
import {
  CRON_JOB,
  DAEMON_SET,
  DEPLOYMENT,
  JOB,
  NODE,
  POD,
  STATEFUL_SET,
  type Pod,
  type Stored,
} from '../../../client/index.ts';
import { FakeApi } from '../../../client/testing/index.ts';
import { WORKLOAD_CONTROLLERS } from '../../workload-controllers.ts';
import { makeReady } from './pods.ts';
import { runOn, type RunningControllers } from './run-controller.ts';

export interface KillRunOptions {
  readonly seed: number;
  /** Looks in which controllers are killed at random writes, before they come to rest. */
  readonly roundsCount: number;
  /** Of all writes, the part at which they are killed. */
  readonly killShare: number;
}

export interface KillRun {
  readonly api: FakeApi;
  readonly killsCount: number;
  /** Whole minutes in which jobs were scheduled. */
  readonly minutesCount: number;
  /** Job pods that ended, by job: what its status has to say. */
  readonly ended: ReadonlyMap<string, { succeeded: number; failed: number }>;
  /** Broken in passing, though the end may be right. */
  readonly violations: readonly string[];
}

const ROUND_MS = 5000;
const REST_ROUNDS = 80;
const REST_ROUND_MS = 30_000;
const FAILED_SHARE = 0.1;
const READS = new Set(['get', 'list', 'watch']);

const template = (app: string, image = 'v1') => ({
  metadata: { labels: { app } },
  spec: { containers: [{ name: 'c', image }] },
});
const selector = (app: string) => ({ matchLabels: { app } });

const seedObjects = (api: FakeApi): void => {
  api.seed(NODE, ...['a', 'b', 'c'].map((name) => ({ metadata: { name } })));
  api.seed(DEPLOYMENT, {
    metadata: { name: 'web' },
    spec: { replicas: 4, selector: selector('web'), template: template('web') },
  });
  api.seed(STATEFUL_SET, {
    metadata: { name: 'db' },
    spec: {
      replicas: 3,
      selector: selector('db'),
      template: template('db'),
      volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } }],
    },
  });
  api.seed(DAEMON_SET, {
    metadata: { name: 'agent' },
    spec: { selector: selector('agent'), template: template('agent') },
  });
  const job = { backoffLimit: 1000, parallelism: 3, completions: 8 };
  api.seed(
    JOB,
    { metadata: { name: 'sum' }, spec: { ...job, selector: selector('sum'), template: template('sum') } },
    {
      metadata: { name: 'map' },
      spec: { ...job, completionMode: 'Indexed', selector: selector('map'), template: template('map') },
    },
  );
  api.seed(CRON_JOB, {
    metadata: { name: 'tick' },
    spec: {
      schedule: '* * * * *',
      successfulJobsHistoryLimit: 1000,
      jobTemplate: { spec: { selector: selector('tick'), template: template('tick') } },
    },
  });
};

const isOver = (pod: Stored<Pod>): boolean => ['Succeeded', 'Failed'].includes(pod.status?.phase ?? '');
const jobOf = (pod: Stored<Pod>): string | undefined => {
  const owner = controllerOf(pod);
  return owner?.kind === 'Job' ? owner.name : undefined;
};

/** One round of all kubelets: some pods become ready, some job pods end, deleted ones go. */
const actAsKubelets = (
  api: FakeApi,
  random: Random,
  ended: Map<string, { succeeded: number; failed: number }>,
): void => {
  for (const pod of api.list(POD)) {
    const { name, deletionTimestamp, finalizers } = pod.metadata;
    if (deletionTimestamp) {
      if (!finalizers?.length) api.remove(POD, name);
      continue;
    }
    if (isOver(pod) || random.next() < 0.4) continue;
    const job = jobOf(pod);
    if (job === undefined) {
      if (pod.status?.phase !== 'Running') makeReady(api, name);
      continue;
    }
    const phase = random.next() < FAILED_SHARE ? 'Failed' : 'Succeeded';
    const counts = ended.get(job) ?? { succeeded: 0, failed: 0 };
    ended.set(job, counts);
    counts[phase === 'Failed' ? 'failed' : 'succeeded'] += 1;
    api.edit(POD, name, (held) => (held.status = { phase }));
  }
};

const violationsIn = (api: FakeApi): string[] => {
  const running = api.list(POD).filter((pod) => !pod.metadata.deletionTimestamp && !isOver(pod));
  const jobs = ['sum', 'map'].filter((job) => running.filter((pod) => jobOf(pod) === job).length > 3);
  const agents = running.filter(({ metadata }) => metadata.labels?.['app'] === 'agent').length;
  return [
    ...jobs.map((job) => `more than 3 pods of ${job}`),
    ...(agents > 3 ? ['more daemons than nodes'] : []),
  ];
};

/** Every change of a template in passing, at fixed rounds. */
const rollImages = (api: FakeApi, round: number, roundsCount: number): void => {
  const image =
    round === Math.floor(roundsCount / 3) ? 'v2' : round === Math.floor((2 * roundsCount) / 3) ? 'v3' : '';
  if (!image) return;
  for (const [kind, name] of [
    [DEPLOYMENT, 'web'],
    [STATEFUL_SET, 'db'],
    [DAEMON_SET, 'agent'],
  ] as const)
    api.edit<{ spec?: { template: { spec?: { containers: { image?: string }[] } } } }>(
      kind,
      name,
      (object) => {
        object.spec!.template.spec!.containers[0]!.image = image;
        object.metadata.generation = (object.metadata.generation ?? 1) + 1;
      },
    );
};

/**
 * Runs all workload controllers and kills them again and again, at random writes: before the write reaches the server,
 * or after, so that its answer is lost. In the end they are left alone until all is at rest.
 */
export const runWithKills = async ({ seed, roundsCount, killShare }: KillRunOptions): Promise<KillRun> => {
  const random = seededRandom(seed);
  const api = new FakeApi({ random: seededRandom(seed + 1) });
  const ended = new Map<string, { succeeded: number; failed: number }>();
  const violations = new Set<string>();
  let running: RunningControllers | undefined;
  let killsCount = 0;
  seedObjects(api);
  const hook = api.intercept(({ verb }) => {
    if (READS.has(verb) || !running || random.next() >= killShare) return;
    killsCount += 1;
    running.kill();
    running = undefined;
    if (random.next() < 0.5) throw new TransportError('ConnectionLost', 'killed', { maybeProcessed: true });
  });
  const round = async (stepMs: number): Promise<void> => {
    running ??= await runOn(api, ...WORKLOAD_CONTROLLERS);
    await api.settle();
    for (const violation of violationsIn(api)) violations.add(violation);
    actAsKubelets(api, random, ended);
    await api.advance(stepMs, Math.max(1000, stepMs / 5));
  };
  for (let i = 0; i < roundsCount; i += 1) {
    rollImages(api, i, roundsCount);
    await round(ROUND_MS);
  }
  hook.dispose();
  api.edit(CRON_JOB, 'tick', (cronJob) => (cronJob.spec!.suspend = true));
  for (let i = 0; i < REST_ROUNDS; i += 1) await round(i < REST_ROUNDS / 2 ? ROUND_MS : REST_ROUND_MS);
  await (running as RunningControllers | undefined)?.stop();
  const minutesCount = Math.floor((roundsCount * ROUND_MS) / 60_000);
  return { api, killsCount, minutesCount, ended, violations: [...violations] };
};
