import type { Log } from '../../base/log.ts';
import { runManager, type RunningManager } from '../../component/run-manager.ts';
import { ApiEventRecorder, InformerFactory } from '../../client/index.ts';
import type { SchedulerSettings } from '../config/flags.ts';
import { featuresOf } from '../framework/features.ts';
import { createScheduler, type Scheduler } from '../loop/scheduler.ts';
import { DEFAULT_SCHEDULER_NAME, type Pod } from '../model/objects.ts';

export interface SchedulerProcessOptions {
  readonly settings: SchedulerSettings;
  readonly version: string;
  readonly log: Log;
}

const LIMIT_DEFAULT = 100;

/** The scheduler: its lease, its secure port with the explanations of its decisions, and its loop while it leads. */
export const runScheduler = ({
  settings: { flags, configuration },
  version,
  log,
}: SchedulerProcessOptions): Promise<RunningManager> => {
  let leading: Scheduler | undefined;
  return runManager({
    name: 'kube-scheduler',
    version,
    settings: flags,
    log,
    pages: {
      /** `?limit=N`, `?namespace=`, `?name=`: the newest attempts, newest first. Nothing where another leads. */
      '/debug/explanations': ({ url }) => {
        const { searchParams } = url;
        const limit = Number.parseInt(searchParams.get('limit') ?? '', 10) || LIMIT_DEFAULT;
        const [namespace, name] = [searchParams.get('namespace'), searchParams.get('name')];
        const items = leading?.explanations.list({
          ...(namespace !== null && { namespace }),
          ...(name !== null && { name }),
        });
        return Promise.resolve({ isLeading: leading !== undefined, items: items?.slice(0, limit) ?? [] });
      },
      /** A Pod is posted; the answer says where it would go. Binds nothing. */
      '/debug/what-if': async ({ json }) => {
        if (leading?.isReady !== true) return { isLeading: false };
        return { isLeading: true, explanation: await leading.whatIf((await json()) as Pod) };
      },
    },
    async lead({ client, clock, random, registry }, signal) {
      const informers = new InformerFactory({ client, clock, random, log, registry });
      const events = new ApiEventRecorder({ client, clock, random, log, component: DEFAULT_SCHEDULER_NAME });
      const scheduler = createScheduler({
        client,
        informers,
        events,
        clock,
        random,
        log,
        config: configuration,
        unschedulableStayMaxMs: flags['pod-max-in-unschedulable-pods-duration'],
        registry,
        features: featuresOf(version),
      });
      leading = scheduler;
      try {
        await scheduler.run(signal);
      } finally {
        leading = undefined;
        await events.stop('now');
        await informers.stop();
      }
    },
  });
};
