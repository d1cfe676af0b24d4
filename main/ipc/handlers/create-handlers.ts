import { homedir } from 'node:os';
import type { Clock } from '../../../core/base/clock.ts';
import { DisposableStore, type Disposable } from '../../../core/base/disposable.ts';
import type { Log } from '../../../core/base/log.ts';
import { systemRandom } from '../../../core/base/node/random.ts';
import {
  ContractError,
  extensionOfPath,
  type AppInfo,
  type CallHandler,
  type Handlers,
  type Name,
  type VitalsPaceSeconds,
  say,
} from '../../../core/contract/index.ts';
import type { Hosting } from '../../clusters/engine.ts';
import { createLocalClusterHandlers } from '../../clusters/handlers.ts';
import { HostedClusters } from '../../clusters/hosted-clusters.ts';
import { ownClusters } from '../../clusters/own-clusters.ts';
import type { DrillDependencies } from '../../drills/handlers.ts';
import type { ExtensionPage } from '../../extensions/extension-page.ts';
import type { ExtensionDependencies, ExtensionHost } from '../../extensions/handlers.ts';
import type { FileDependencies } from '../../files/handlers.ts';
import type { GraphHandlerDependencies } from '../../graph/handlers.ts';
import type { HelmDependencies } from '../../helm/handlers.ts';
import type { HistoryDependencies } from '../../history/handlers.ts';
import { openExecConsent } from '../../kube/exec-consent.ts';
import { createKubeHandlers } from '../../kube/handlers.ts';
import { drainNode } from '../../kube/drain.ts';
import { ChosenFiles, type ChooseFile } from './chosen-files.ts';
import { createClusterRegistry, type ClusterRegistry } from './cluster-list.ts';
import { lateHandlers } from './late-handlers.ts';
import type { Damage } from '../../state/json-document.ts';
import { createNavigationHub, type NavigationHub } from '../../state/navigation-hub.ts';
import { createNotificationHub, type NotificationHub } from '../../state/notification-hub.ts';
import { createSettingsStore, type SettingsStore } from '../../state/settings-store.ts';
import { findKubeconfigs, type Surroundings } from './usual-kubeconfigs.ts';
import { createVitals, type LoopProbe, type ProcessSource, type Vitals } from './vitals.ts';

const MS_PER_SECOND = 1000;

/** What `main/monitor` answers. */
const MONITOR_NAMES = [
  'etcd.members',
  'etcd.timeline',
  'etcd.hashes',
  'etcd.locks',
  'etcd.auth',
  'access.reach',
  'access.rules',
  'access.whoCan',
  'audit.events',
  'certificates.list',
  'cluster.checks',
  'controllers.view',
  'doctor.examine',
  'encryption.view',
  'flowcontrol.view',
  'leases.watch',
  'metrics.query',
  'metrics.health',
  'timeline.watch',
  'xray.requests',
  'xray.admission',
  'xray.scheduling',
  'xray.whatIf',
] as const satisfies readonly Name[];

const DRILL_NAMES = ['drills.list', 'drills.watch', 'drills.request'] as const satisfies readonly Name[];
const EXTENSION_NAMES = [
  'extensions.list',
  'extensions.allow',
  'extensions.revoke',
  'extensions.read',
] as const satisfies readonly Name[];
const FILE_NAMES = [
  'files.list',
  'files.download',
  'files.upload',
  'files.chunk',
] as const satisfies readonly Name[];
const HELM_NAMES = ['helm.releases', 'helm.release', 'helm.change'] as const satisfies readonly Name[];

/** What `main/history` answers. */
const HISTORY_NAMES = [
  'history.moments',
  'history.versions',
  'history.contents',
  'history.list',
  'history.object',
  'history.compare',
  'history.restore',
] as const satisfies readonly Name[];

export interface HandlerDependencies {
  readonly dataDirectory: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  readonly shell: AppInfo['shell'];
  readonly processes: ProcessSource;
  readonly openLoopProbe?: () => LoopProbe;
  /** Absent in a browser: there the page opens links itself, and the call answers `Unimplemented`. */
  readonly openExternal?: (url: string) => Promise<void>;
  /** The native dialog; undefined when the user closed it. Absent in a browser, where the path is typed. */
  readonly chooseKubeconfig?: ChooseFile;
  readonly chooseSnapshot?: ChooseFile;
  /** How hosts of clusters are started. Without it clusters of the console's own are listed, but not run. */
  readonly hosting?: Hosting;
  /** Where kubeconfigs are looked for: by default in this process's environment and home folder. */
  readonly surroundings?: Surroundings;
}

/** The contract's handlers, and the parts that the host itself speaks to. */
export interface HandlerSet extends Disposable {
  readonly handlers: Handlers;
  readonly settings: SettingsStore;
  readonly clusters: ClusterRegistry;
  readonly notifications: NotificationHub;
  readonly navigation: NavigationHub;
  /** The clusters that this process runs. */
  readonly hosted: HostedClusters;
  /** What a frame of an extension shows, by the path that it asks for; undefined for everything that no person allowed. */
  extensionPage(path: string): Promise<ExtensionPage | undefined>;
  /** Lets pages read a snapshot that a person opened outside the console. */
  allowSnapshot(path: string): void;
  /** Starts the clusters that were running when this console ended last, if the user wants that. */
  resume(): void;
  /** Ends what runs in order, within a bound; before `dispose`. */
  close(): Promise<void>;
}

/** The schema asks for the prefix only; a link that hides another host behind credentials is refused too. */
const checkedLink = (url: string): string => {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'https:' || parsed.username !== '' || parsed.password !== '')
    throw new ContractError('BadRequest', say('failure.httpsOnly'));
  return parsed.href;
};

const externalOpener =
  (openExternal: (url: string) => Promise<void>): CallHandler<'app.openExternal'> =>
  async ({ url }) => {
    await openExternal(checkedLink(url));
    return undefined;
  };

const appInfo =
  ({ version, shell, dataDirectory }: HandlerDependencies, startedAtMs: number): CallHandler<'app.info'> =>
  async () => ({
    version,
    shell,
    platform: process.platform,
    arch: process.arch,
    nodeVersion: process.versions.node,
    electronVersion: process.versions['electron'] ?? null,
    chromeVersion: process.versions['chrome'] ?? null,
    dataDirectory,
    startedAtMs,
  });

/** The parts that run clusters are loaded with the first one: a console that opens a kubeconfig needs none of them. */
const openHostedClusters = (
  { dataDirectory, clock, log, hosting }: HandlerDependencies,
  onDamage: (damage: Damage) => void,
): HostedClusters =>
  new HostedClusters({
    dataDirectory,
    clock,
    log,
    onDamage,
    async engine() {
      if (!hosting) throw new ContractError('Unimplemented', say('failure.noHosting'));
      const { createEngine } = await import('../../clusters/engine.ts');
      return createEngine({ hosting, clock, log });
    },
    lookCloser(cluster, tell) {
      const store = new DisposableStore();
      void import('../../clusters/close-look.ts').then(({ lookCloser }) =>
        store.add(lookCloser(cluster, clock, tell)),
      );
      return store;
    },
  });

const drillHandlers = (options: DrillDependencies): Handlers =>
  lateHandlers(DRILL_NAMES, async () =>
    (await import('../../drills/handlers.ts')).createDrillHandlers(options),
  );

const helmHandlers = (options: HelmDependencies): Handlers =>
  lateHandlers(HELM_NAMES, async () => (await import('../../helm/handlers.ts')).createHelmHandlers(options));

const extensionHost = (options: ExtensionDependencies): ExtensionHost => {
  let loaded: Promise<ExtensionHost> | undefined;
  const load = (): Promise<ExtensionHost> =>
    (loaded ??= import('../../extensions/handlers.ts').then((module) => module.createExtensionHost(options)));
  return {
    handlers: lateHandlers(EXTENSION_NAMES, async () => (await load()).handlers),
    // Asked for every file of the console: most are none of theirs, and need none of this loaded.
    page: async (path) => (extensionOfPath(path) ? (await load()).page(path) : undefined),
  };
};

const fileHandlers = (options: FileDependencies): Handlers => {
  let loaded: Promise<Handlers> | undefined;
  return lateHandlers(
    FILE_NAMES,
    () => (loaded ??= import('../../files/handlers.ts').then((module) => module.createFileHandlers(options))),
  );
};

/** What is shown of applications: their parts, their releases, and the files of their containers. */
const applicationHandlers = (
  given: Omit<GraphHandlerDependencies & HelmDependencies & FileDependencies, 'random'>,
): Handlers => {
  const options = { ...given, random: systemRandom };
  return {
    ...fileHandlers(options),
    ...helmHandlers(options),
    ...lateHandlers(['nodes.joining', 'nodes.invite'], async () =>
      (await import('../../kube/joining.ts')).createJoiningHandlers(options.connections, options.clock),
    ),
    ...lateHandlers(['graph.watch'], async () =>
      (await import('../../graph/handlers.ts')).createGraphHandlers(options),
    ),
  };
};

const historyHandlers = (store: DisposableStore, options: HistoryDependencies): Handlers => {
  let loaded: Promise<Handlers> | undefined;
  return lateHandlers(
    HISTORY_NAMES,
    () =>
      (loaded ??= import('../../history/handlers.ts').then(
        ({ createHistoryHandlers }) => store.add(createHistoryHandlers(options)).handlers,
      )),
  );
};

export const createHandlers = (dependencies: HandlerDependencies): HandlerSet => {
  const { clock, log, dataDirectory, openExternal, chooseKubeconfig, chooseSnapshot } = dependencies;
  const startedAtMs = clock.nowMs();
  const store = new DisposableStore();
  const notifications = store.add(createNotificationHub(clock));
  const navigation = store.add(createNavigationHub());

  const onDamage = ({ path, message, keptAs }: Damage): void => {
    log.write('warn', 'failed to use a file of the console', { path, keptAs, error: message });
    notifications.post({
      severity: 'warn',
      title: say('notice.file.damaged', { path }),
      detail: keptAs
        ? say('notice.file.damaged.kept', { keptAs, reason: message })
        : say('notice.reason', { reason: message }),
    });
  };

  const settings = store.add(createSettingsStore({ dataDirectory, onDamage }));
  const hosted = store.add(openHostedClusters(dependencies, onDamage));
  const consent = openExecConsent({ dataDirectory, nowMs: () => clock.nowMs(), onDamage });
  const clusters = store.add(
    createClusterRegistry({ dataDirectory, clock, onDamage, own: ownClusters(hosted), consent }),
  );
  const kubeconfigs = new ChosenFiles('kubeconfig', chooseKubeconfig);
  const snapshots = new ChosenFiles('snapshot', chooseSnapshot);
  const kube = store.add(
    createKubeHandlers({
      clusters,
      consent,
      clock,
      random: systemRandom,
      log,
      openExternal,
      home: dependencies.surroundings?.home,
      userAgent: `pilothouse/${dependencies.version}`,
    }),
  );
  const { connections } = kube;
  const { open, openForWriting } = connections;
  const extensions = extensionHost({ dataDirectory, clock, connections, onDamage });
  const drain = { run: drainNode(openForWriting, clock), connect: open };
  const local = store.add(
    createLocalClusterHandlers({ hosted, clusters, notifications, clock, drain, snapshots }),
  );
  /** Once there is a cluster of its own the console records it, looked at or not. */
  let monitor: Promise<Handlers> | undefined;
  const loadMonitor = (): Promise<Handlers> =>
    (monitor ??= import('../../monitor/index.ts').then(({ createMonitorHandlers }) => {
      const options = { clock, log, localClusters: hosted, connect: open };
      return store.add(createMonitorHandlers(options)).handlers;
    }));
  const recordOwn = (): void => {
    if (hosted.list().some(({ supervisor, isElsewhere }) => supervisor !== undefined || isElsewhere))
      loadMonitor().catch((error: unknown) => log.write('error', 'failed to record clusters', { error }));
  };
  store.add(hosted.onChange(recordOwn));
  const vitalsEvery = (seconds: VitalsPaceSeconds): Vitals =>
    store.add(
      createVitals({
        clock,
        intervalMs: seconds * MS_PER_SECOND,
        processes: dependencies.processes,
        ...(dependencies.openLoopProbe && { openLoopProbe: dependencies.openLoopProbe }),
      }),
    );
  const vitals: Readonly<Record<VitalsPaceSeconds, Vitals>> = { 1: vitalsEvery(1), 5: vitalsEvery(5) };

  let updates: Promise<Handlers> | undefined;
  const loadUpdates = (): Promise<Handlers> =>
    (updates ??= import('../../updates/handlers.ts').then(({ createUpdateHandlers }) => {
      const { version } = dependencies;
      return store.add(
        createUpdateHandlers({ dataDirectory, version, clock, log, settings, notifications, onDamage }),
      ).handlers;
    }));

  /** A file that is forgotten may be opened again: a person had named it. */
  const openKubeconfig: CallHandler<'clusters.openKubeconfig'> = async ({ path }) => {
    if (path !== undefined && clusters.knows(path)) kubeconfigs.add(path);
    return clusters.open(await kubeconfigs.choose(path));
  };
  /** Offered by the host itself, so a page may open them: it did not make up the path. */
  const found: CallHandler<'clusters.found'> = async () => {
    const { surroundings = { env: process.env, home: homedir() } } = dependencies;
    const isKnown = (path: string): boolean => clusters.knows(path);
    const files = await findKubeconfigs(surroundings, { isKnown, pluginOf: consent.pluginOf });
    for (const { path } of files) kubeconfigs.add(path);
    return files;
  };
  const forget: CallHandler<'clusters.forget'> = async ({ id }) => {
    const file = (await clusters.list()).clusters.find((entry) => entry.id === id)?.kubeconfigPath ?? id;
    if (clusters.knows(file)) kubeconfigs.add(file);
    return clusters.forget(id);
  };

  const handlers: Handlers = {
    'app.info': appInfo(dependencies, startedAtMs),
    'app.vitals': ({ everySeconds }, signal) => vitals[everySeconds].watch(signal),
    ...(openExternal && { 'app.openExternal': externalOpener(openExternal) }),
    'settings.read': async () => settings.read(),
    'settings.write': (patch) => settings.write(patch),
    'settings.watch': (_input, signal) => settings.watch(signal),
    'clusters.list': () => clusters.list(),
    'clusters.watch': (_input, signal) => clusters.watch(signal),
    'clusters.openKubeconfig': openKubeconfig,
    'clusters.found': found,
    'clusters.forget': forget,
    'clusters.allowPlugin': ({ id, fingerprint }) => clusters.allowPlugin(id, fingerprint),
    'backups.choose': async ({ path }) => ({ file: await snapshots.choose(path) }),
    'clusters.setReadOnly': ({ id, readOnly }) => clusters.setReadOnly(id, readOnly),
    ...local.handlers,
    ...kube.handlers,
    ...lateHandlers(MONITOR_NAMES, loadMonitor),
    ...drillHandlers({ clock, localClusters: hosted }),
    ...extensions.handlers,
    ...applicationHandlers({ clock, localClusters: hosted, connections }),
    ...historyHandlers(store, { clock, localClusters: hosted, connections, snapshots }),
    ...lateHandlers(['updates.check'], loadUpdates),
    'notifications.watch': (_input, signal) => notifications.watch(signal),
    'navigation.watch': (_input, signal) => navigation.watch(signal),
  };

  return {
    handlers,
    settings,
    clusters,
    notifications,
    navigation,
    hosted,
    extensionPage: extensions.page,
    allowSnapshot: (path) => snapshots.add(path),
    resume: () => {
      // Those who set no feed never load what reads one.
      if (settings.read().updateFeed !== '')
        loadUpdates().catch((error: unknown) => log.write('error', 'failed to load updates', { error }));
      if (settings.read().resumeClusters) hosted.resume();
    },
    close: () => hosted.stopAll(),
    dispose: () => store.dispose(),
  };
};
