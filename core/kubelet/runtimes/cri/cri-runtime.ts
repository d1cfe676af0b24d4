import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposable.ts';
import { messageOf, ReasonError } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import type { V1Pod } from '../../../api/schema/index.ts';
import type { PressureSource } from '../../eviction/eviction-manager.ts';
import { hostsFile } from '../../dns/hosts-file.ts';
import { VolumeError } from '../../volumes/errors.ts';
import {
  NotStarted,
  RuntimeError,
  type AdoptedContainer,
  type AdoptedSandbox,
  type CollectedImages,
  type ContainerRequest,
  type ContainerUsage,
  type HeldPod,
  type ImageInfo,
  type PullRequest,
  type RunningContainer,
  type Runtime,
  type Sandbox,
  type SandboxRequest,
} from '../runtime.ts';
import { containerConfig, IMAGE_ANNOTATION, RESTART_COUNT_ANNOTATION } from './container-config.ts';
import { MESSAGE_PATH_DEFAULT } from '../termination-message.ts';
import { removePodFolder } from './bind-mounts.ts';
import { CriContainer } from './cri-container.ts';
import { CriClient, isCriNotFound, type CriStatus, type CriVersion } from './cri-client.ts';
import { killProcesses, removeCgroups } from './cgroups.ts';
import { criPressure } from './cri-pressure.ts';
import { DiskVolumes, emptyDirFolder } from './disk-volumes.ts';
import { ImageStore } from './image-store.ts';
import { LOG_LIMITS, removeLog, rotateLog, type LogLimits } from './log-rotation.ts';
import type { ContainerStatus, CriMount, FoundContainer, FoundSandbox, SandboxConfig } from './messages.ts';
import { Relist } from './relist.ts';
import {
  CONTAINER_NAME_LABEL,
  NODE_LABEL,
  podLogFolder,
  POD_UID_LABEL,
  sandboxConfig,
  type SandboxPlaces,
} from './sandbox-config.ts';
import { openForward } from './streams.ts';

/** As old as a mounted object may be: upstream's kubelet looks again every minute. */
const VOLUMES_REFRESH_MS = 60_000;
/** Upstream's `containerLogMonitorInterval`. */
const LOG_CHECK_MS = 10_000;
const MOUNTED_HOSTS = '/etc/hosts';
const NO_USER_NAMESPACES = "can't set `spec.hostUsers: false`, this node does not support user namespaces";

export interface CriRuntimeOptions {
  /** `unix:///run/containerd/containerd.sock` */
  readonly endpoint: string;
  readonly nodeName: string;
  /** Tells nodes of one name apart where clusters share a runtime. */
  readonly clusterId?: string;
  readonly clock: Clock;
  readonly log: Log;
  /** `--root-dir`: volumes, hosts files and termination messages of pods. */
  readonly root: string;
  /** `--pod-logs-dir` */
  readonly podLogs: string;
  /** Above `kubepods`; `/` is the machine's. */
  readonly cgroupRoot?: string;
  readonly memoryCapacityBytes: number;
  readonly logLimits?: LogLimits;
  /** Asked before the containers of a pod start, and told when it is gone. */
  readonly firewall?: {
    admit(pod: V1Pod, addresses: readonly string[]): Promise<void>;
    forget(uid: string): void;
  };
}

/** What one pod has on this node while its kubelet runs. */
interface PodPlace {
  readonly config: SandboxConfig;
  readonly sandboxId: string;
  readonly podIPs: readonly string[];
  readonly volumes: DiskVolumes;
  readonly folder: string;
}

/** One line that says what to install, where there is no container runtime. */
const noRuntime = (endpoint: string, cause: unknown): ReasonError<'NoRuntime'> =>
  new ReasonError(
    'NoRuntime',
    `no container runtime answers on ${endpoint} (${messageOf(cause)}); install one, for example with apt-get install containerd runc containernetworking-plugins, and start it`,
    { cause },
  );

/** ReasonError `NoRuntime` where none answers that the kubelet can use. */
export const connectRuntime = async (
  endpoint: string,
): Promise<{ readonly client: CriClient; readonly version: CriVersion }> => {
  const client = new CriClient(endpoint);
  try {
    const version = await client.version();
    if (version.api !== 'v1')
      throw new Error(`it speaks CRI ${version.api || 'of no version'}, and the kubelet needs v1`);
    return { client, version };
  } catch (error) {
    client.close();
    throw noRuntime(endpoint, error);
  }
};

/** Real containers, through the CRI of containerd or CRI-O. They outlive the kubelet, which finds them by their labels. */
export class CriRuntime implements Runtime, Disposable {
  readonly name: string;
  readonly version: string;
  readonly isDurable = true;
  readonly pressure: PressureSource;
  readonly #options: CriRuntimeOptions;
  readonly #client: CriClient;
  readonly #relist: Relist;
  readonly #images: ImageStore;
  readonly #nodeKey: string;
  readonly #labels: Readonly<Record<string, string>>;
  readonly #refreshes = new Map<string, Disposable>();
  #logTimer: Disposable | undefined;
  #isDisposed = false;

  private constructor(options: CriRuntimeOptions, client: CriClient, { name, version }: CriVersion) {
    const { nodeName, clusterId, clock, log } = options;
    this.#options = options;
    this.#client = client;
    this.name = name;
    this.version = version.replace(/^v/, '');
    this.#nodeKey = clusterId === undefined ? nodeName : `${clusterId}/${nodeName}`;
    this.#labels = { [NODE_LABEL]: this.#nodeKey };
    this.#images = new ImageStore({ client, clock, log });
    this.pressure = criPressure({
      client,
      images: this.#images,
      labels: this.#labels,
      root: options.root,
      podLogs: options.podLogs,
      emptyDirOf: ({ metadata }, volume) => emptyDirFolder(this.#folderOf(metadata?.uid ?? ''), volume),
    });
    this.#relist = new Relist({ client, clock, log, nodeKey: this.#nodeKey });
  }

  /** ReasonError `NoRuntime` with one line that says what to do. */
  static async connect(options: CriRuntimeOptions): Promise<CriRuntime> {
    const { client, version } = await connectRuntime(options.endpoint);
    await mkdir(options.root, { recursive: true, mode: 0o750 });
    await mkdir(options.podLogs, { recursive: true, mode: 0o755 });
    return new CriRuntime(options, client, version);
  }

  /** Containers keep running. */
  dispose(): void {
    this.#isDisposed = true;
    this.#relist.dispose();
    this.#logTimer?.dispose();
    for (const refresh of this.#refreshes.values()) refresh.dispose();
    this.#client.close();
  }

  findImage(image: string): Promise<ImageInfo | undefined> {
    return this.#images.find(image);
  }

  pullImage(request: PullRequest): Promise<ImageInfo> {
    return this.#images.pull(request);
  }

  images(): Promise<readonly ImageInfo[]> {
    return this.#images.all();
  }

  collectImages(): Promise<CollectedImages> {
    return this.#images.collect();
  }

  async problem(): Promise<string | undefined> {
    const status = await this.#client.status().catch(() => undefined);
    if (!status) return 'container runtime is down';
    const { runtimeProblem, networkProblem } = status;
    const problems = [
      ...(runtimeProblem === undefined ? [] : [`container runtime not ready: ${runtimeProblem}`]),
      ...(networkProblem === undefined ? [] : [`container runtime network not ready: ${networkProblem}`]),
    ];
    return problems.length === 0 ? undefined : problems.join(', ');
  }

  status(): Promise<CriStatus> {
    return this.#client.status();
  }

  async usage(
    containers: readonly RunningContainer[],
  ): Promise<ReadonlyMap<RunningContainer, ContainerUsage>> {
    if (containers.length === 0) return new Map();
    const usages = await this.#client.usage(this.#labels);
    return new Map(
      containers.flatMap((container) => {
        const usage = container instanceof CriContainer ? usages.get(container.criId) : undefined;
        return usage ? [[container, usage] as const] : [];
      }),
    );
  }

  async createSandbox(request: SandboxRequest): Promise<Sandbox> {
    const { pod } = request;
    if (pod.spec?.hostUsers === false) throw new RuntimeError('SandboxFailed', NO_USER_NAMESPACES);
    const folder = this.#folderOf(pod.metadata?.uid ?? '');
    const volumes = new DiskVolumes(pod, request.volumes, folder, this.#options.log);
    await volumes.prepare();
    const known = await this.#sandboxesOf(pod.metadata?.uid ?? '');
    // Numbers are unique in the runtime: an earlier kubelet may have come further than this one knows.
    const attempt = known.reduce((next, sandbox) => Math.max(next, sandbox.attempt + 1), request.attempt);
    const config = sandboxConfig({ ...request, attempt }, this.#places);
    try {
      for (const sandbox of known) await this.#client.stopSandbox(sandbox.id);
      await mkdir(config.logDirectory, { recursive: true, mode: 0o755 });
      const sandboxId = await this.#client.runSandbox(config, request.runtimeHandler ?? '');
      const sandbox = await this.#sandbox(request, { config, sandboxId, volumes, folder });
      if (pod.spec?.hostNetwork !== true) await this.#options.firewall?.admit(pod, sandbox.podIPs);
      return sandbox;
    } catch (error) {
      if (error instanceof VolumeError) throw error;
      throw new RuntimeError('SandboxFailed', messageOf(error), { cause: error });
    }
  }

  async adoptSandbox(request: SandboxRequest): Promise<AdoptedSandbox | undefined> {
    const { pod } = request;
    const uid = pod.metadata?.uid ?? '';
    const [newest] = [...(await this.#sandboxesOf(uid))].sort((a, b) => b.attempt - a.attempt);
    if (!newest?.isReady) return undefined;
    const folder = this.#folderOf(uid);
    const volumes = new DiskVolumes(pod, request.volumes, folder, this.#options.log);
    await volumes.prepare();
    const config = sandboxConfig({ ...request, attempt: newest.attempt }, this.#places);
    const sandbox = await this.#sandbox(request, { config, sandboxId: newest.id, volumes, folder });
    const found = await this.#client.listContainers({ ...this.#labels, [POD_UID_LABEL]: uid });
    // Made, and never started: the kubelet was killed in between. Its name is taken until it goes.
    for (const { id, state } of found)
      if (state === 'created') await this.#client.removeContainer(id).catch(ignoreMissing);
    const statuses = await Promise.all(
      found
        .filter(({ state }) => state === 'running' || state === 'exited')
        .map(async ({ id, sandboxId }) => ({ status: await this.#client.containerStatus(id), sandboxId })),
    );
    const containers: AdoptedContainer[] = [];
    for (const [name, starts] of startsByName(statuses, newest.id)) {
      let previous: AdoptedContainer | undefined;
      for (const status of starts) previous = await this.#adopted(name, status, previous);
      containers.push(previous!);
    }
    return { sandbox, containers };
  }

  async heldPods(): Promise<readonly HeldPod[]> {
    const found = await this.#client.listSandboxes(this.#labels);
    const folders = await readdir(join(this.#options.root, 'pods')).catch(() => []);
    const pods = new Map<string, HeldPod>(
      folders.map((uid) => [uid, { uid, namespace: '', name: '' }] as const),
    );
    for (const { uid, namespace, name } of found) pods.set(uid, { uid, namespace, name });
    return [...pods.values()];
  }

  async removePod(uid: string): Promise<void> {
    this.#options.firewall?.forget(uid);
    this.#refreshes.get(uid)?.dispose();
    this.#refreshes.delete(uid);
    let failure: unknown;
    for (const sandbox of await this.#sandboxesOf(uid)) {
      await this.#client.stopSandbox(sandbox.id).catch(ignoreMissing);
      await this.#removeSandbox(sandbox.id, uid).catch((error: unknown) => (failure = error));
    }
    const logs = (await readdir(this.#options.podLogs)).filter((name) => name.endsWith(`_${uid}`));
    for (const name of logs) await rm(join(this.#options.podLogs, name), { recursive: true, force: true });
    await removeCgroups(this.#options.cgroupRoot ?? '/', uid);
    await removePodFolder(this.#folderOf(uid));
    if (failure !== undefined) throw failure;
  }

  /**
   * What its runtime can neither stop nor remove is killed, and tried again. containerd 1.6 keeps the record of a container that
   * it was killed over until it starts the next time; nothing of it runs by then.
   */
  async #removeSandbox(id: string, uid: string): Promise<void> {
    try {
      await this.#client.removeSandbox(id).catch(ignoreMissing);
    } catch {
      await killProcesses(this.#options.cgroupRoot ?? '/', uid);
      await this.#client.removeSandbox(id).catch(ignoreMissing);
    }
  }

  async #sandboxesOf(uid: string): Promise<readonly FoundSandbox[]> {
    return this.#client.listSandboxes({ ...this.#labels, [POD_UID_LABEL]: uid });
  }

  get #places(): SandboxPlaces {
    const { podLogs, cgroupRoot = '/' } = this.#options;
    return { podLogs, cgroupRoot, nodeKey: this.#nodeKey };
  }

  #folderOf(uid: string): string {
    return join(this.#options.root, 'pods', uid);
  }

  async #sandbox(request: SandboxRequest, begun: Omit<PodPlace, 'podIPs'>): Promise<Sandbox> {
    const { pod, hostIP, clusterDomain } = request;
    const isHostNetwork = pod.spec?.hostNetwork === true;
    const podIPs = isHostNetwork ? [hostIP] : await this.#client.sandboxAddresses(begun.sandboxId);
    const place: PodPlace = { ...begun, podIPs };
    const hosts = join(place.folder, 'etc-hosts');
    await mkdir(place.folder, { recursive: true, mode: 0o750 });
    await writeFile(hosts, hostsFile(pod, podIPs[0] ?? hostIP, clusterDomain), { mode: 0o644 });
    this.#refresh(pod, place.volumes);
    let following: Disposable | undefined;
    return {
      podIPs,
      onEnd: (listener) => (following = this.#relist.followSandbox(place.sandboxId, listener)),
      startContainer: (container) => this.#start(container, request, place),
      dial: async (port) => openForward(await this.#client.portForwardUrl(place.sandboxId, port), port),
      stop: async () => {
        following?.dispose();
        const uid = pod.metadata?.uid ?? '';
        this.#refreshes.get(uid)?.dispose();
        this.#refreshes.delete(uid);
        await this.#client.stopSandbox(place.sandboxId).catch(ignoreMissing);
      },
    };
  }

  /** Contents of ConfigMaps, Secrets and tokens change while the pod runs. */
  #refresh(pod: V1Pod, volumes: DiskVolumes): void {
    const uid = pod.metadata?.uid ?? '';
    if (!volumes.hasFixed || this.#isDisposed) return;
    this.#refreshes.get(uid)?.dispose();
    const timer = this.#options.clock.after(VOLUMES_REFRESH_MS, () => {
      void volumes
        .refresh()
        .catch((error: unknown) =>
          this.#options.log.write('warn', 'a volume could not be updated', {
            pod: uid,
            error: messageOf(error),
          }),
        )
        .finally(() => {
          if (this.#refreshes.get(uid) === timer) this.#refresh(pod, volumes);
        });
    });
    this.#refreshes.set(uid, timer);
  }

  /** Looks at the logs of running containers for as long as there are any. */
  #watchLogs(): void {
    if (this.#isDisposed || this.#logTimer) return;
    this.#logTimer = this.#options.clock.after(LOG_CHECK_MS, () => {
      void this.rotateLogs().finally(() => {
        this.#logTimer = undefined;
        if (this.#relist.containers.length > 0) this.#watchLogs();
      });
    });
  }

  /** Every ten seconds while there are containers. */
  async rotateLogs(): Promise<void> {
    const { clock, log, logLimits: limits = LOG_LIMITS } = this.#options;
    for (const { criId, logFile } of this.#relist.containers)
      try {
        const reopen = (): Promise<void> => this.#client.reopenLog(criId);
        await rotateLog(logFile, { limits, nowMs: clock.nowMs(), reopen });
      } catch (error) {
        log.write('warn', 'a log could not be rotated', { path: logFile, error: messageOf(error) });
      }
  }

  #container(id: string, logFile: string): CriContainer {
    this.#watchLogs();
    const { clock, memoryCapacityBytes } = this.#options;
    const look = (): void => this.#relist.look();
    return new CriContainer({
      client: this.#client,
      clock,
      runtimeName: this.name,
      id,
      logFile,
      memoryCapacityBytes,
      look,
    });
  }

  async #start(request: ContainerRequest, of: SandboxRequest, place: PodPlace): Promise<RunningContainer> {
    const { container, image } = request;
    const found = await this.#client.image(image.imageID).catch(() => undefined);
    const resolved = found ?? (await this.#client.image(container.image ?? ''));
    if (!resolved)
      throw new RuntimeError('CreateContainerError', `image "${container.image}" is no longer on the node`);
    const messageFile = await this.#messageFile(place, container.name);
    const mounts = await this.#mounts(request, of, place, messageFile);
    const { root, memoryCapacityBytes } = this.#options;
    const places = { root, memoryCapacityBytes, ...(await this.#targetOf(request)) };
    const config = containerConfig(request, this.#nodeKey, resolved, mounts, messageFile, places);
    await mkdir(join(place.config.logDirectory, container.name), { recursive: true, mode: 0o755 });
    const logFile = join(place.config.logDirectory, config.logPath);
    const create = (): Promise<string> => this.#client.createContainer(place.sandboxId, config, place.config);
    let id: string;
    try {
      id = await create().catch(async (error: unknown) => {
        const left = await this.#leftOf(request).catch(() => undefined);
        if (left === undefined) throw error;
        return hasRun(left) ? left.id : create();
      });
    } catch (error) {
      throw new RuntimeError('CreateContainerError', messageOf(error), { cause: error });
    }
    try {
      await this.#client.startContainer(id);
    } catch (error) {
      const failure = await this.#notStarted(id, logFile, error);
      if (failure) throw failure;
    }
    const running = this.#container(id, logFile);
    this.#relist.followContainer(running);
    await this.#removeOld(request);
    return running;
  }

  /**
   * A container of this very start, from an attempt whose answer was lost with its runtime. One that has run is the container; any
   * other keeps the name for itself, and is removed.
   */
  async #leftOf({ pod, container, attempt }: ContainerRequest): Promise<FoundContainer | undefined> {
    const [uid, name] = [pod.metadata?.uid ?? '', container.name];
    const labels = { ...this.#labels, [POD_UID_LABEL]: uid, [CONTAINER_NAME_LABEL]: name };
    const left = (await this.#client.listContainers(labels)).find((one) => one.attempt === attempt);
    if (left && !hasRun(left)) await this.#client.removeContainer(left.id).catch(ignoreMissing);
    return left;
  }

  /**
   * As upstream: a container whose process could not be started has exited. Without an exit it is removed. Undefined: it runs,
   * and only the answer was lost.
   */
  async #notStarted(id: string, logFile: string, cause: unknown): Promise<RuntimeError | undefined> {
    const message = messageOf(cause);
    const status = await this.#client.containerStatus(id).catch(() => undefined);
    if (status?.state === 'running') return undefined;
    if (status?.state === 'exited') {
      const container = this.#container(id, logFile);
      container.exited(await container.ended(status));
      return new NotStarted(message, container, { cause });
    }
    // A runtime that is away is asked again with the next attempt, which finds it.
    await this.#client.removeContainer(id).catch(() => undefined);
    return new RuntimeError('RunContainerError', message, { cause });
  }

  /** The container whose processes an ephemeral container sees. */
  async #targetOf({ pod, container, kind }: ContainerRequest): Promise<{ readonly targetId?: string }> {
    const target = pod.spec?.ephemeralContainers?.find(({ name }) => name === container.name);
    if (kind !== 'ephemeral' || !target?.targetContainerName) return {};
    const found = await this.#client.listContainers({
      ...this.#labels,
      [POD_UID_LABEL]: pod.metadata?.uid ?? '',
      [CONTAINER_NAME_LABEL]: target.targetContainerName,
    });
    const targetId = found.find(({ state }) => state === 'running')?.id;
    if (targetId === undefined)
      throw new RuntimeError(
        'CreateContainerError',
        `unable to find target container ${target.targetContainerName}`,
      );
    return { targetId };
  }

  /** The start before stays for its log; those before it go. */
  async #removeOld({ pod, container, attempt }: ContainerRequest): Promise<void> {
    if (attempt < 2) return;
    const labels = {
      ...this.#labels,
      [POD_UID_LABEL]: pod.metadata?.uid ?? '',
      [CONTAINER_NAME_LABEL]: container.name,
    };
    try {
      for (const old of await this.#client.listContainers(labels))
        if (old.state === 'exited' && old.attempt < attempt - 1) {
          await this.#client.removeContainer(old.id).catch(ignoreMissing);
          const log = join(this.#options.podLogs, podLogFolder(pod), container.name, `${old.attempt}.log`);
          await removeLog(log);
        }
    } catch (error) {
      this.#options.log.write('warn', 'old containers could not be removed', { error: messageOf(error) });
    }
  }

  async #messageFile({ folder }: PodPlace, name: string): Promise<string> {
    const containers = join(folder, 'containers', name);
    await mkdir(containers, { recursive: true, mode: 0o750 });
    const file = join(containers, randomBytes(4).toString('hex'));
    await writeFile(file, '');
    // Any user that the container runs as may leave a message.
    await chmod(file, 0o666);
    return file;
  }

  async #mounts(
    { container, environment }: ContainerRequest,
    { pod }: SandboxRequest,
    place: PodPlace,
    messageFile: string,
  ): Promise<readonly CriMount[]> {
    const own = await place.volumes.mountsOf(container, environment);
    const bind = (containerPath: string, hostPath: string): CriMount[] =>
      own.some((mount) => mount.containerPath === containerPath)
        ? []
        : [{ containerPath, hostPath, isReadOnly: false, propagation: 0 }];
    const isManaged = pod.spec?.hostNetwork !== true || (pod.spec.hostAliases ?? []).length > 0;
    return [
      ...own,
      ...(isManaged ? bind(MOUNTED_HOSTS, join(place.folder, 'etc-hosts')) : []),
      ...bind(container.terminationMessagePath ?? MESSAGE_PATH_DEFAULT, messageFile),
    ];
  }

  async #adopted(
    name: string,
    status: ContainerStatus,
    previous: AdoptedContainer | undefined,
  ): Promise<AdoptedContainer> {
    const container = this.#container(status.id, status.logPath);
    const exit = status.state === 'exited' ? await container.ended(status) : undefined;
    if (exit) container.exited(exit);
    else this.#relist.followContainer(container);
    return {
      name,
      attempt: Number(status.annotations.get(RESTART_COUNT_ANNOTATION) ?? status.attempt),
      container,
      image: status.annotations.get(IMAGE_ANNOTATION) ?? status.image,
      imageID: status.imageRef,
      startedMs: status.startedMs,
      exit,
      previous: previous && { ...previous, previous: undefined },
    };
  }
}

const hasRun = ({ state }: FoundContainer): boolean => state === 'running' || state === 'exited';

interface StatusIn {
  readonly status: ContainerStatus;
  readonly sandboxId: string;
}

/** The starts of each container, oldest first. What ran in an earlier sandbox alone is left out: it starts again. */
const startsByName = (
  found: readonly StatusIn[],
  sandboxId: string,
): ReadonlyMap<string, readonly ContainerStatus[]> => {
  const byName = new Map<string, ContainerStatus[]>();
  const current = new Set<string>();
  for (const one of [...found].sort((a, b) => a.status.attempt - b.status.attempt)) {
    const name = one.status.labels.get(CONTAINER_NAME_LABEL) ?? one.status.name;
    byName.set(name, [...(byName.get(name) ?? []), one.status]);
    if (one.sandboxId === sandboxId) current.add(name);
  }
  return new Map([...byName].filter(([name]) => current.has(name)));
};

const ignoreMissing = (error: unknown): void => {
  if (!isCriNotFound(error)) throw error;
};
