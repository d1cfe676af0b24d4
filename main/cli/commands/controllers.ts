import { viewControllers, viewControllersByApi } from '../../../core/cluster/controllers/view-controllers.ts';
import { etcdAccessOf } from '../../../core/cluster/etcd-operator/operations.ts';
import { openClusterAccess } from '../../../core/cluster/monitor/scrape/cluster-access.ts';
import { inEnglish, type ControllersView } from '../../../core/contract/index.ts';
import { EXIT_FAILURE, EXIT_OK, leadingWords, parseOptions, usageError, type Command } from '../command.ts';
import { CLIENT_OPTIONS, openClient, type OpenedClient } from '../open-client.ts';

const USAGE = `  pilothouse controllers [NAME] [--kubeconfig FILE] [--context NAME] [--data DIR] [-o json]

  Shows every controller of the managers that lead: its queue (depth, adds, retries, longest running), what it waits for, and
  objects whose reconciliation fails. With NAME also its newest reconciliations. Exits with 1 if something fails.`;

const time = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+/, '');

const linesOf = (view: ControllersView, name: string | undefined): string[] => [
  ...view.managers.flatMap(({ name: manager, holder, instances, unsynced }) => [
    `${manager}: ${holder === '' ? 'no leader' : `led by ${holder}`}`,
    ...instances.flatMap(({ host, problem }) => (problem ? [`  ${host}: ${inEnglish(problem)}`] : [])),
    ...unsynced.map(
      ({ resource, error }) => `  waits for the cache of ${resource}${error === '' ? '' : `: ${error}`}`,
    ),
  ]),
  ...(view.controllers.length > 0
    ? [`${'CONTROLLER'.padEnd(44)} ${'PHASE'.padEnd(10)} DEPTH    ADDS RETRIES FAILING`]
    : []),
  ...view.controllers
    .filter((one) => name === undefined || one.name === name)
    .flatMap(({ name: own, phase, error, queues, recent, failing }) => {
      const sum = (pick: (queue: (typeof queues)[number]) => number): string =>
        String(queues.reduce((total, queue) => total + pick(queue), 0));
      return [
        [
          own.padEnd(44),
          phase.padEnd(10),
          sum(({ depth }) => depth).padStart(5),
          sum(({ adds }) => adds).padStart(7),
          sum(({ retries }) => retries).padStart(7),
          String(failing.length).padStart(7),
        ].join(' '),
        ...(error === '' ? [] : [`  failed and starts over: ${error}`]),
        ...failing.map(({ key, error: why, retries }) => `  ✗ ${key} (${retries} retries): ${why}`),
        ...(name === undefined
          ? []
          : recent.map(
              ({ key, startedAtMs, durationMs, outcome }) =>
                `  ${time(startedAtMs)} ${outcome.padEnd(8)} ${durationMs.toFixed(0).padStart(5)} ms  ${key}`,
            )),
      ];
    }),
];

const readView = async (directory: string, opened: OpenedClient): Promise<ControllersView> => {
  const { client, cluster, kubeconfigFile } = opened;
  try {
    if (cluster === undefined) return await viewControllersByApi(client);
    const access = openClusterAccess({
      directory,
      kubeconfigFile,
      etcdTls: () => etcdAccessOf(directory, cluster).tls,
    });
    try {
      return await viewControllers(access, cluster, client);
    } finally {
      access.dispose();
    }
  } finally {
    client.dispose();
  }
};

export const controllers: Command = {
  usage: USAGE,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    const [name, ...more] = words;
    if (more.length > 0) throw usageError('controllers takes at most one NAME');
    const { values, dataDirectory, json } = parseOptions(CLIENT_OPTIONS, rest, context);
    const userAgent = 'pilothouse-controllers';
    const opened = await openClient(values, { dataDirectory, cwd: context.cwd, userAgent });
    const view = await readView(dataDirectory, opened);
    if (
      name !== undefined &&
      view.controllers.length > 0 &&
      !view.controllers.some((one) => one.name === name)
    )
      throw usageError(
        `controller "${name}" not found; known controllers: ${view.controllers.map((one) => one.name).join(', ')}`,
      );
    if (json) context.print(JSON.stringify(view));
    else for (const line of linesOf(view, name)) context.print(line);
    for (const gap of view.gaps) context.note(`note: ${inEnglish(gap)}`);
    return view.controllers.some(({ failing, error }) => failing.length > 0 || error !== '')
      ? EXIT_FAILURE
      : EXIT_OK;
  },
};
