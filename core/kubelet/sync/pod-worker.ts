import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import { parseTime } from '../../api/meta/time.ts';
import type { V1Pod, V1PodStatus } from '../../api/schema/index.ts';
import { podDns } from '../dns/pod-dns.ts';
import type {
  AdoptedSandbox,
  ContainerExit,
  ProbeKind,
  Runtime,
  Sandbox,
  SandboxRequest,
} from '../runtimes/runtime.ts';
import { podStatus } from '../status/pod-status.ts';
import { terminatedState } from '../containers/terminated-state.ts';
import { VolumeError } from '../volumes/errors.ts';
import { podVolumes, type PodVolumes } from '../volumes/pod-volumes.ts';
import { nextBackOff, SYNC_BACK_OFF, type BackOffEntry } from '../containers/back-off.ts';
import { ContainerProbes } from './container-probes.ts';
import {
  adoptInto,
  containersOf,
  isRunning,
  leaveSandbox,
  newRecord,
  type ContainerRecord,
  type Incarnation,
} from '../containers/container-record.ts';
import { POST_START_TIMEOUT_MS, runHook } from './lifecycle-hook.ts';
import type { NodeContext } from './node-context.ts';
import { planPod } from './plan.ts';
import { isResized, PodResize } from './pod-resize.ts';
import type { Amounts } from './pod-requests.ts';
import { formatPod, graceSecondsOf } from './pod-text.ts';
import { backOffUntilMs } from './start-back-off.ts';
import { shouldRestart, shouldRestartAfterProbe } from '../containers/restart-policy.ts';
import { startContainer } from './start-container.ts';
import type { Started, StartFailure } from './start-failure.ts';
import { stopContainer, stopInOrder } from './termination.ts';

/** What container runtimes say of a process that could not be started. */
const START_ERROR_EXIT_CODE = 128;
/** Rhythm in which a wrong configuration is looked at again. */
const CONFIG_RETRY_MS = 10_000;

export type PodStage = 'active' | 'terminating' | 'terminated' | 'abandoned';

export interface PodVerdict {
  readonly reason: string;
  readonly message: string;
  /** The node ends the pod for its own sake, which budgets and job policies tell from a failure. */
  readonly isDisruption?: boolean;
}

export interface PodWorkerOptions {
  readonly context: NodeContext;
  readonly pod: V1Pod;
  /** From a manifest of the host: its phase never becomes terminal. */
  readonly isStatic: boolean;
  /** What other pods of the node ask for; nothing without it. */
  usedByOthers?(): readonly Amounts[];
  onStatus(worker: PodWorker): void;
  /** Every container has exited and the sandbox is gone. Called once. */
  onTerminated(worker: PodWorker): void;
}

/**
 * One pod on one node. Level-triggered: whatever happens (an update, an exit, a probe, a timer) only wakes it, and
 * it then compares what is with what should be. One turn at a time; what takes time runs beside it and wakes it.
 */
export class PodWorker {
  readonly #options: PodWorkerOptions;
  #pod: V1Pod;
  #records: ContainerRecord[];
  #stage: PodStage = 'active';
  #sandbox: Sandbox | undefined;
  #sandboxAttempt = 0;
  #podIPs: readonly string[] = [];
  #volumes: PodVolumes | undefined;
  #status: V1PodStatus | undefined;
  #verdict: PodVerdict | undefined;
  #isAwake = false;
  /** A sandbox is being made, or what is left of one is being stopped. */
  #settingUp: Promise<void> | undefined;
  #setUpBackOff: BackOffEntry | undefined;
  #setUpRetryMs = 0;
  #syncBackOff: BackOffEntry | undefined;
  #wakeAtMs = Number.POSITIVE_INFINITY;
  #timer: Disposable | undefined;
  #probes: ContainerProbes | undefined;
  #stopDeadlineMs = Number.POSITIVE_INFINITY;
  /** Aborts starts that are in progress; made when the first one begins. */
  #starts: { readonly abort: AbortController; readonly pending: Set<Promise<void>> } | undefined;
  #onTerminated: (() => void)[] | undefined;
  #resize: PodResize | undefined;
  readonly #startedMs: number;

  constructor(options: PodWorkerOptions) {
    this.#options = options;
    this.#pod = options.pod;
    this.#startedMs = options.context.clock.nowMs();
    this.#records = containersOf(options.pod).map(({ spec, kind }) => newRecord(options.pod, spec, kind));
    this.#wake();
  }

  get pod(): V1Pod {
    return this.#pod;
  }

  get isStatic(): boolean {
    return this.#options.isStatic;
  }

  get uid(): string {
    return this.#pod.metadata?.uid ?? '';
  }

  /** What the API should be told; undefined before the first turn. */
  get status(): V1PodStatus | undefined {
    return this.#status;
  }

  get stage(): PodStage {
    return this.#stage;
  }

  get records(): readonly ContainerRecord[] {
    return this.#records;
  }

  get sandbox(): Sandbox | undefined {
    return this.#sandbox;
  }

  get runtime(): Runtime {
    return this.#context.runtime;
  }

  get volumes(): PodVolumes {
    return (this.#volumes ??= podVolumes(() => this.#facts(), this.#context.objects));
  }

  /** The kubelet stops and its containers do not: nothing more is done or told. */
  abandon(): void {
    this.#stage = 'abandoned';
    this.#timer?.dispose();
    this.#starts?.abort.abort();
    for (const record of this.#records) this.#probes?.end(record);
  }

  /** A newer version of the same pod. */
  update(pod: V1Pod): void {
    this.#pod = pod;
    for (const { spec, kind } of containersOf(pod)) {
      const record = this.#records.find((known) => known.spec.name === spec.name);
      if (!record) this.#records.push(newRecord(pod, spec, kind));
      else {
        const isChanged = record.spec.image !== spec.image;
        record.spec = isResized(record.spec, spec) ? this.#resizes.admit(pod, record, spec) : spec;
        if (isChanged && isRunning(record) && this.#stage === 'active')
          this.#restart(record, `Container ${spec.name} definition changed`, true);
      }
    }
    if (pod.metadata?.deletionTimestamp !== undefined) this.terminate({});
    this.#wake();
  }

  /** Stops the pod for good. A second call may only shorten the time. */
  terminate(options: { readonly graceSeconds?: number; readonly verdict?: PodVerdict }): void {
    if (this.#stage === 'terminated' || this.#stage === 'abandoned') return;
    const graceMs = (options.graceSeconds ?? graceSecondsOf(this.#pod)) * 1000;
    const deadlineMs = this.#context.clock.monotonicMs() + graceMs;
    if (this.#stage === 'terminating') {
      if (deadlineMs >= this.#stopDeadlineMs) return;
      this.#stopDeadlineMs = deadlineMs;
      for (const record of this.#records) if (record.isStopping) record.current?.container.stop(graceMs);
      return;
    }
    this.#stage = 'terminating';
    this.#stopDeadlineMs = deadlineMs;
    this.#verdict = options.verdict;
    this.#timer?.dispose();
    void this.#runTermination().catch((error: unknown) => this.#failedSync(error));
    this.#wake();
  }

  /** Resolves when every container has exited and the sandbox is gone. */
  whenTerminated(): Promise<void> {
    if (this.#stage === 'terminated') return Promise.resolve();
    return new Promise((resolve) => (this.#onTerminated ??= []).push(resolve));
  }

  /** Made with the first change: most pods are never resized. */
  get #resizes(): PodResize {
    return (this.#resize ??= new PodResize({
      context: this.#context,
      pod: () => this.#pod,
      usedByOthers: () => this.#options.usedByOthers?.() ?? [],
      restart: (record, message) => this.#restart(record, message, false),
      wake: (atMs) => (atMs === undefined ? this.#wake() : this.#wakeAt(atMs)),
    }));
  }

  get #context(): NodeContext {
    return this.#options.context;
  }

  #facts() {
    const { hostIP, allocatable } = this.#context;
    return { pod: this.#pod, hostIP, podIPs: this.#podIPs, allocatable };
  }

  #wake(): void {
    if (this.#isAwake || this.#stage === 'abandoned') return;
    this.#isAwake = true;
    queueMicrotask(() => {
      this.#isAwake = false;
      try {
        this.#turn();
      } catch (error) {
        this.#failedSync(error);
      }
    });
  }

  /** A pod that cannot be understood costs itself: it is told, and tried again later. */
  #failedSync(error: unknown): void {
    const message = `error syncing pod, skipping: ${messageOf(error)}`;
    this.#context.log.write('error', message, { pod: formatPod(this.#pod) });
    this.#context.event(this.#pod, 'Warning', 'FailedSync', message);
    const atMs = this.#context.clock.nowMs();
    this.#syncBackOff = nextBackOff(this.#syncBackOff, SYNC_BACK_OFF, atMs, atMs);
    if (this.#stage === 'active' || this.#stage === 'terminating')
      this.#wakeAt(atMs + this.#syncBackOff.durationMs);
  }

  #wakeAt(atMs: number): void {
    const nowMs = this.#context.clock.nowMs();
    if (atMs >= this.#wakeAtMs && this.#wakeAtMs > nowMs) return;
    this.#timer?.dispose();
    this.#wakeAtMs = atMs;
    this.#timer = this.#context.clock.after(Math.max(0, atMs - nowMs), () => {
      this.#wakeAtMs = Number.POSITIVE_INFINITY;
      this.#wake();
    });
  }

  #turn(): void {
    if (this.#stage === 'abandoned') return;
    if (this.#stage === 'active') {
      if (this.#isPastDeadline()) return;
      if (!this.#sandbox) this.#setUp();
      else {
        const plan = planPod(this.#pod, this.#records);
        if (plan.isFinished) return this.terminate({});
        for (const record of plan.start) this.#tryStart(record);
        this.#resize?.turn(this.#records);
      }
    }
    this.#publish();
  }

  #isPastDeadline(): boolean {
    const seconds = this.#pod.spec?.activeDeadlineSeconds;
    if (seconds === undefined) return false;
    const startTime = this.#pod.status?.startTime;
    const startedMs = (startTime === undefined ? undefined : parseTime(startTime)) ?? this.#startedMs;
    const deadlineMs = startedMs + seconds * 1000;
    if (this.#context.clock.nowMs() < deadlineMs) {
      this.#wakeAt(deadlineMs);
      return false;
    }
    const verdict = {
      reason: 'DeadlineExceeded',
      message: 'Pod was active on the node longer than the specified deadline',
    };
    this.#context.event(this.#pod, 'Normal', verdict.reason, verdict.message);
    this.terminate({ verdict });
    return true;
  }

  #setUp(): void {
    const nowMs = this.#context.clock.nowMs();
    if (this.#settingUp) return;
    if (nowMs < this.#setUpRetryMs) return this.#wakeAt(this.#setUpRetryMs);
    this.#settingUp = this.#makeSandbox()
      .catch((error: unknown) => {
        const isMount = error instanceof VolumeError;
        const message = isMount ? error.message : `Failed to create pod sandbox: ${messageOf(error)}`;
        this.#context.event(
          this.#pod,
          'Warning',
          isMount ? 'FailedMount' : 'FailedCreatePodSandBox',
          message,
        );
        const atMs = this.#context.clock.nowMs();
        this.#setUpBackOff = nextBackOff(this.#setUpBackOff, SYNC_BACK_OFF, atMs, atMs);
        this.#setUpRetryMs = atMs + this.#setUpBackOff.durationMs;
      })
      .finally(() => {
        this.#settingUp = undefined;
        this.#wake();
      });
  }

  async #makeSandbox(): Promise<void> {
    const { runtime, metrics } = this.#context;
    await this.volumes.check();
    if (this.#stage !== 'active') return;
    const request = this.#sandboxRequest();
    const adopted = await runtime.adoptSandbox(request);
    this.#use(adopted?.sandbox ?? (await runtime.createSandbox({ ...request, ...(await this.#handler()) })));
    if (adopted) this.#adoptAll(adopted);
    else metrics.startedPods.inc();
    metrics.runningPods.add(1);
  }

  /** Which of several runtimes the pod wants; those that keep nothing have one only. */
  async #handler(): Promise<Pick<SandboxRequest, 'runtimeHandler'>> {
    const name = this.#pod.spec?.runtimeClassName;
    const lookUp = this.#context.objects.runtimeHandler;
    if (!name || !lookUp || !this.runtime.isDurable) return {};
    return { runtimeHandler: await lookUp(name) };
  }

  #sandboxRequest(): SandboxRequest {
    const { nodeName, hostIP, clusterDns } = this.#context;
    const preferredIP = this.#pod.status?.podIP;
    const { dns, warnings } = podDns(this.#pod, clusterDns);
    // Static pods are the host's own: what they resolve, they resolve as the host does.
    if (!this.isStatic)
      for (const { reason, message } of warnings) this.#context.event(this.#pod, 'Warning', reason, message);
    return {
      pod: this.#pod,
      nodeName,
      hostIP,
      dns,
      clusterDomain: clusterDns?.domain ?? '',
      volumes: this.volumes,
      attempt: this.#sandboxAttempt,
      ...(preferredIP !== undefined && { preferredIP }),
    };
  }

  #use(sandbox: Sandbox): void {
    this.#sandbox = sandbox;
    this.#podIPs = sandbox.podIPs;
    this.#setUpBackOff = undefined;
    sandbox.onEnd(() => {
      if (this.#stage !== 'active' || this.#sandbox !== sandbox) return;
      this.#settingUp = this.#leaveSandbox(sandbox)
        .catch((error: unknown) => this.#failedSync(error))
        .finally(() => {
          this.#settingUp = undefined;
          this.#wake();
        });
    });
  }

  /** Containers that an earlier kubelet started continue, and their probes with them. */
  #adoptAll({ containers }: AdoptedSandbox): void {
    for (const found of containers) {
      const record = this.#records.find(({ spec }) => spec.name === found.name);
      if (!record) continue;
      adoptInto(record, this.#pod, found);
      const incarnation = record.current!;
      if (incarnation.exit) continue;
      this.#context.metrics.runningContainers.add(1);
      found.container.onExit((exit) => this.#exited(record, incarnation, exit));
      if (found.image !== record.spec.image) {
        this.#restart(record, `Container ${record.spec.name} definition changed`, true);
        continue;
      }
      this.#beginProbes(record, incarnation);
    }
  }

  /** As upstream: what still runs is killed, and by the restart policy everything begins again in a new sandbox. */
  async #leaveSandbox(sandbox: Sandbox): Promise<void> {
    this.#sandbox = undefined;
    this.#context.metrics.runningPods.add(-1);
    this.#starts?.abort.abort();
    await Promise.all(this.#starts?.pending ?? []);
    this.#starts = undefined;
    await stopInOrder(this.#records.filter(isRunning), (record) =>
      this.#stop(record, `Stopping container ${record.spec.name}`, this.#context.clock.monotonicMs()),
    );
    await this.#stopSandbox(sandbox);
    if (this.#stage !== 'active') return;
    if (planPod(this.#pod, this.#records).isFinished) return this.terminate({});
    this.#sandboxAttempt += 1;
    this.#records.forEach(leaveSandbox);
    this.#context.event(
      this.#pod,
      'Normal',
      'SandboxChanged',
      'Pod sandbox changed, it will be killed and re-created.',
    );
  }

  async #stopSandbox(sandbox: Sandbox): Promise<void> {
    await sandbox.stop().catch((error: unknown) => {
      this.#context.event(this.#pod, 'Warning', 'FailedKillPod', `error killing pod: ${messageOf(error)}`);
    });
  }

  #tryStart(record: ContainerRecord): void {
    const nowMs = this.#context.clock.nowMs();
    const waitUntilMs = backOffUntilMs(this.#context, this.#pod, record);
    if (waitUntilMs > nowMs) return this.#wakeAt(waitUntilMs);
    record.isStarting = true;
    const starts = (this.#starts ??= { abort: new AbortController(), pending: new Set() });
    const pending = this.#start(record, starts.abort.signal).finally(() => starts.pending.delete(pending));
    starts.pending.add(pending);
  }

  async #start(record: ContainerRecord, signal: AbortSignal): Promise<void> {
    const context = this.#context;
    try {
      const sandbox = this.#sandbox!;
      const request = { context, pod: this.#pod, record, sandbox, signal };
      this.#adopt(record, await startContainer(request));
    } catch (error) {
      const failure = error as StartFailure;
      if (failure.started) this.#adopt(record, failure.started);
      const isOver = failure.started && !shouldRestart(this.#pod, record.spec, START_ERROR_EXIT_CODE);
      record.waiting = isOver ? undefined : { reason: failure.reason, message: failure.message };
      record.retryAtMs = record.imageFailure || failure.started ? 0 : context.clock.nowMs() + CONFIG_RETRY_MS;
    } finally {
      record.isStarting = false;
      this.#wake();
    }
  }

  #adopt(record: ContainerRecord, { container, image }: Started): void {
    const before = record.current;
    const ended = before ? terminatedState(before) : record.inherited;
    if (ended) {
      record.last = ended;
      record.restartCount += 1;
    }
    if (before) record.lastLog = before.container.log;
    const incarnation: Incarnation = {
      container,
      imageID: image.imageID,
      startedMs: this.#context.clock.nowMs(),
      exit: undefined,
    };
    Object.assign(record, {
      current: incarnation,
      applied: record.spec.resources,
      inherited: undefined,
      waiting: undefined,
      isStarted: false,
      isReady: false,
      mustRestart: false,
    });
    this.#context.metrics.runningContainers.add(1);
    container.onExit((exit) => this.#exited(record, incarnation, exit));
    void this.#afterStart(record, incarnation).catch((error: unknown) => this.#failedSync(error));
  }

  async #afterStart(record: ContainerRecord, incarnation: Incarnation): Promise<void> {
    const hook = record.spec.lifecycle?.postStart;
    if (hook) {
      try {
        await runHook(hook, this.#target(record, incarnation), POST_START_TIMEOUT_MS);
      } catch (error) {
        if (incarnation.exit) return;
        this.#context.log.write('warn', 'postStart hook failed', { pod: formatPod(this.#pod), error });
        this.#context.event(this.#pod, 'Warning', 'FailedPostStartHook', 'PostStartHook failed');
        this.#restart(record, 'FailedPostStartHook', false);
        return;
      }
      if (incarnation.exit || record.current !== incarnation) return;
    }
    this.#beginProbes(record, incarnation);
  }

  #beginProbes(record: ContainerRecord, incarnation: Incarnation): void {
    this.#probes ??= new ContainerProbes({
      context: this.#context,
      pod: () => this.#pod,
      onChange: () => this.#wake(),
      onFailure: (failed, kind) => this.#failedProbe(failed, kind),
    });
    this.#probes.begin(record, this.#target(record, incarnation));
    this.#wake();
  }

  #target(record: ContainerRecord, incarnation: Incarnation) {
    const { clock, probeUserAgent: userAgent, hostIP } = this.#context;
    const podIP = this.#podIPs[0] ?? hostIP;
    return { podIP, hostIP, spec: record.spec, container: incarnation.container, clock, userAgent };
  }

  #failedProbe(record: ContainerRecord, kind: ProbeKind): void {
    if (this.#stage !== 'active') return;
    const grace = (kind === 'startup' ? record.spec.startupProbe : record.spec.livenessProbe)
      ?.terminationGracePeriodSeconds;
    const subject = record.kind === 'sidecar' ? 'Init container' : 'Container';
    const message = `${subject} ${record.spec.name} failed ${kind} probe`;
    this.#restart(record, message, record.kind === 'main', grace);
  }

  /** Kills a container that the restart policy may bring back. */
  #restart(record: ContainerRecord, message: string, tellsIntent: boolean, graceSeconds?: number): void {
    const isRestarted = shouldRestartAfterProbe(this.#pod, record.spec);
    record.mustRestart = isRestarted;
    const text = tellsIntent && isRestarted ? `${message}, will be restarted` : message;
    const graceMs = (graceSeconds ?? graceSecondsOf(this.#pod)) * 1000;
    void this.#stop(record, text, this.#context.clock.monotonicMs() + graceMs).catch((error: unknown) =>
      this.#failedSync(error),
    );
  }

  async #stop(record: ContainerRecord, message: string, deadlineMs: number): Promise<void> {
    const { current } = record;
    if (!current || current.exit || record.isStopping) return;
    record.isStopping = true;
    this.#context.event(this.#pod, 'Normal', 'Killing', message);
    await stopContainer({
      context: this.#context,
      pod: this.#pod,
      record,
      target: this.#target(record, current),
      deadlineMs: () => Math.min(deadlineMs, this.#stopDeadlineMs),
    });
  }

  #exited(record: ContainerRecord, incarnation: Incarnation, exit: ContainerExit): void {
    if (this.#stage === 'abandoned') return;
    incarnation.exit = { ...exit, finishedMs: exit.finishedMs ?? this.#context.clock.nowMs() };
    if (exit.event) this.#context.event(this.#pod, 'Warning', exit.event.reason, exit.event.message);
    incarnation.container.log.close();
    this.#probes?.end(record);
    record.isStopping = false;
    record.isStarted = false;
    record.isReady = false;
    this.#context.metrics.runningContainers.add(-1);
    this.#wake();
  }

  async #runTermination(): Promise<void> {
    this.#probes?.stopRestarting();
    this.#starts?.abort.abort();
    await this.#settingUp;
    await Promise.all(this.#starts?.pending ?? []);
    if (!this.#sandbox && this.runtime.isDurable) await this.#adoptToStop();
    await stopInOrder(this.#records.filter(isRunning), (record) =>
      this.#stop(record, `Stopping container ${record.spec.name}`, this.#stopDeadlineMs),
    );
    const sandbox = this.#sandbox;
    this.#sandbox = undefined;
    if (sandbox) {
      this.#context.metrics.runningPods.add(-1);
      await this.#stopSandbox(sandbox);
    }
    this.#stage = 'terminated';
    this.#timer?.dispose();
    this.#publish();
    this.#options.onTerminated(this);
    for (const resolve of this.#onTerminated ?? []) resolve();
  }

  /** A pod that was deleted while no kubelet ran gets its grace period all the same. */
  async #adoptToStop(): Promise<void> {
    try {
      const adopted = await this.runtime.adoptSandbox(this.#sandboxRequest());
      if (!adopted) return;
      this.#use(adopted.sandbox);
      this.#adoptAll(adopted);
      this.#context.metrics.runningPods.add(1);
    } catch (error) {
      this.#context.event(this.#pod, 'Warning', 'FailedKillPod', `error killing pod: ${messageOf(error)}`);
    }
  }

  #publish(): void {
    const status = podStatus({
      pod: this.#pod,
      records: this.#records,
      nowMs: this.#context.clock.nowMs(),
      startedMs: this.#startedMs,
      hostIP: this.#context.hostIP,
      podIPs: this.#podIPs,
      isSandboxReady: this.#sandbox !== undefined,
      isTerminating: this.#stage !== 'active',
      couldRun: this.#stage !== 'terminated',
      isStatic: this.#options.isStatic,
      verdict: this.#verdict,
      before: this.#status,
      resize: this.#resize?.conditions ?? [],
    });
    if (this.#status && JSON.stringify(this.#status) === JSON.stringify(status)) return;
    this.#status = status;
    this.#options.onStatus(this);
  }
}
