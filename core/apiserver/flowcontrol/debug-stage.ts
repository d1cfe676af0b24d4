import type { RequestInfo } from '../server/request-info.ts';
import type { Stage } from '../server/pipeline.ts';
import { TEXT_TYPE } from '../server/response.ts';
import type { FlowController } from './flow-controller.ts';
import type { RequestDump } from './queue-set.ts';

const ROOT = '/debug/api_priority_and_fairness/';

interface Description {
  readonly schema: string;
  readonly distinguisher: string;
  readonly user: string;
  readonly info: RequestInfo;
}

/** Columns under each other, with a comma after all but the last, as upstream's. */
const tableText = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)) + 1);
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : `${cell},`.padEnd((widths[at] ?? 0) + 1)))
      .join('')
      .trimEnd();
  return `${rows.map(line).join('\n')}\n`;
};

const byName = (controller: FlowController) =>
  [...controller.levels.all()].sort((a, b) => (a.config.name < b.config.name ? -1 : 1));

const priorityLevels = (controller: FlowController): string =>
  tableText([
    [
      'PriorityLevelName',
      'ActiveQueues',
      'IsIdle',
      'IsQuiescing',
      'WaitingRequests',
      'ExecutingRequests',
      'DispatchedRequests',
      'RejectedRequests',
      'TimedoutRequests',
      'CancelledRequests',
    ],
    ...byName(controller).map(({ config, queues }) => {
      const { waiting, executing, dispatched, rejected, timedOut } = queues.counts;
      const active = queues.dump().queues.filter((queue) => queue.waiting.length > 0).length;
      return [
        config.name,
        String(active),
        String(queues.isIdle),
        'false',
        ...[waiting, executing, dispatched, rejected, timedOut, timedOut].map(String),
      ];
    }),
  ]);

const queueRows = (controller: FlowController): string =>
  tableText([
    [
      'PriorityLevelName',
      'Index',
      'PendingRequests',
      'ExecutingRequests',
      'SeatsInUse',
      'NextDispatchR',
      'InitialSeatsSum',
      'MaxSeatsSum',
      'TotalWorkSum',
    ],
    ...byName(controller).flatMap(({ config, queues }) =>
      queues.dump().queues.map(({ waiting, executing, seatsInUse, nextDispatchR }, at) => {
        const sum = (of: (request: RequestDump) => number): number =>
          waiting.reduce((total, request) => total + of(request), 0);
        return [
          config.name,
          String(at),
          String(waiting.length),
          String(executing.length),
          String(seatsInUse),
          `${nextDispatchR.toFixed(8)}ss`,
          String(sum(({ work }) => work.initialSeats)),
          String(sum(({ work }) => Math.max(work.initialSeats, work.finalSeats))),
          `${sum(({ work }) => work.initialSeats * 0.003 + work.finalSeats * work.finalSeconds).toFixed(8)}ss`,
        ];
      }),
    ),
  ]);

const requestRows = (controller: FlowController, hasDetails: boolean, startedAtMs: number): string => {
  const time = (ms: number): string =>
    ms === 0 ? '0001-01-01T00:00:00Z' : new Date(startedAtMs + ms).toISOString();
  const row = (level: string, queue: number, at: number, request: RequestDump): string[] => {
    const { schema, distinguisher, user, info } = request.description as Description;
    const { work, arrivedAtMs, startedAtMs: begunAtMs } = request;
    return [
      level,
      schema,
      String(queue),
      String(at),
      distinguisher,
      time(arrivedAtMs),
      String(work.initialSeats),
      String(work.finalSeats),
      `${work.finalSeconds * 1000}ms`,
      time(begunAtMs),
      ...(hasDetails
        ? [
            user,
            info.verb,
            info.path,
            info.namespace,
            info.name,
            info.apiGroup === '' ? info.apiVersion : `${info.apiGroup}/${info.apiVersion}`,
            info.resource,
            info.subresource,
          ]
        : []),
    ];
  };
  return tableText([
    [
      'PriorityLevelName',
      'FlowSchemaName',
      'QueueIndex',
      'RequestIndexInQueue',
      'FlowDistingsher',
      'ArriveTime',
      'InitialSeats',
      'FinalSeats',
      'AdditionalLatency',
      'StartTime',
      ...(hasDetails
        ? ['UserName', 'Verb', 'APIPath', 'Namespace', 'Name', 'APIVersion', 'Resource', 'SubResource']
        : []),
    ],
    ...byName(controller).flatMap(({ config, queues }) => {
      const dump = queues.dump();
      return [
        ...dump.queues.flatMap(({ waiting, executing }, queue) => [
          ...waiting.map((request, at) => row(config.name, queue, at, request)),
          ...executing.map((request) => row(config.name, queue, -1, request)),
        ]),
        ...dump.queueless.map((request) => row(config.name, -1, -1, request)),
      ];
    }),
  ]);
};

/** What waits where, for people: upstream's three pages. `nowMs` and `monotonicMs` turn its times into dates. */
export const flowDebugStage = (
  controller: FlowController,
  clock: { nowMs(): number; monotonicMs(): number },
): Stage => ({
  name: 'flow-debug',
  async run({ info, request, response }) {
    if (!info.path.startsWith(ROOT)) return 'next';
    const pages: Readonly<Record<string, () => string>> = {
      dump_priority_levels: () => priorityLevels(controller),
      dump_queues: () => queueRows(controller),
      dump_requests: () =>
        requestRows(
          controller,
          (request.query.get('includeRequestDetails') ?? '') !== '',
          clock.nowMs() - clock.monotonicMs(),
        ),
    };
    const page = Object.hasOwn(pages, info.path.slice(ROOT.length))
      ? pages[info.path.slice(ROOT.length)]
      : undefined;
    if (!page) return 'next';
    await response.send(200, TEXT_TYPE, page());
    return 'done';
  },
});
