import http from 'node:http';
import https from 'node:https';
import { readFile } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import { DisposableStore, toDisposable, type Disposable } from '../../base/disposable.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { systemRandom } from '../../base/node/random.ts';
import { connect, loadKubeconfig, pause, type Client } from '../../client/index.ts';
import { certificatePath } from '../../pki/index.ts';
import { loadBalancerAddress } from '../config/addresses.ts';
import type { ClusterConfig } from '../config/config.ts';
import { firstNodePlace, nodePlaces, planHosts, type HostPlan } from '../config/hosts.ts';
import { SCHEDULED_PREFIX } from '../backup/backup-name.ts';
import { BackupRunner } from '../backup/backup-runner.ts';
import { undoInterruptedRestore } from '../backup/member-folders.ts';
import { saveClusterSnapshot } from '../backup/save-snapshot.ts';
import { OneAtATime } from '../operation/one-at-a-time.ts';
import { silentReport } from '../operation/step-report.ts';
import { FaultBoard, linkEndOf, LOAD_BALANCER } from '../faults/fault-board.ts';
import { readMembershipChange } from '../membership/journal.ts';
import { resumeMembership } from '../membership/resume.ts';
import { readUpgradeState } from '../upgrade/state.ts';
import { superAdminKubeconfigFile } from '../data-folder/layout.ts';
import type { DataFolder } from '../data-folder/open.ts';
import { brokenManifests, lostKeys } from '../data-folder/look-at-files.ts';
import { putManifestBack, setManifestAside } from '../data-folder/manifest-aside.ts';
import { STOP_STAGES } from '../host/messages.ts';
import { PORTS } from '../manifests/control-plane.ts';
import {
  ensureCloudAccess,
  ELECTED_COMPONENTS,
  installAddons,
  markControlPlanes,
  releaseDeadLeases,
} from './bootstrap.ts';
import { BalancerKeeper } from './balancer-keeper.ts';
import { leadersGate, nodesGate, urlGate, type Gate } from './gates.ts';
import type { LoadBalancerConfig } from '../load-balancer/index.ts';
import type { HostLauncher } from './host-launcher.ts';
import { HostLink } from './host-link.ts';
import { fatalFailure, startFailures, type StartFailure, type StartLook } from './start-failures.ts';
import { startLoadBalancerThread } from './load-balancer-thread.ts';
import type { ClusterPhase, ClusterState } from './state.ts';

/** A start that takes longer than this on any machine will not come to an end. */
const START_TIMEOUT_MS = 240_000;
/** Below the bound within which clients want an answer. */
const FIRST_BACKEND_WAIT_MS = 8_000;
const POLL_MS = 25;
const NODES_POLL_MS = 60;
/** The pause after a question, in times of what it took. */
const POLL_SHARE = 3;
/** Longer than a lease that somebody has left behind. */
const LEADERS_WAIT_MS = 20_000;
const STOP_GRACE_MS = 10_000;
const STAGE_TIMEOUT_MS = 3_000;
/** For the load balancer to say that it has taken one out. */
const DRAIN_WAIT_MS = 1_000;
const DRAIN_POLL_MS = 5;
/** An orderly end that has not come by then is made. */
const KILL_AFTER_MS = STOP_GRACE_MS + 2_000;
/** What is under way puts back what it has to; nobody waits longer for it. */
const OPERATION_END_MS = 10_000;

export interface SupervisorOptions {
  readonly folder: DataFolder;
  /** The program of `host/program.ts`, for the thread of the load balancer. */
  readonly program: URL;
  readonly launch: HostLauncher;
  readonly clock: Clock;
  readonly log: Log;
}

/** A cluster that runs: its host processes and its load balancer. */
export class Supervisor {
  readonly folder: DataFolder;
  readonly #options: SupervisorOptions;
  #config: ClusterConfig;
  readonly #links = new Map<string, HostLink>();
  readonly #listeners = new Set<(state: ClusterState) => void>();
  readonly #owned = new DisposableStore();
  readonly #life = new AbortController();
  readonly #startedAtMs: number;
  readonly #originMs: number;
  #agent: https.Agent | undefined;
  readonly #plainAgent = new http.Agent({ keepAlive: true });
  readonly #balancer: BalancerKeeper;
  #stopping: Promise<void> | undefined;
  #isStuck = false;
  #client: Client | undefined;
  readonly #warnings: string[] = [];
  #phase: ClusterPhase = 'starting';
  #readyAfterMs: number | undefined;
  #leasesReleased: Promise<void> | undefined;
  /** Kubelets that an upgrade has moved, or has yet to move, by node. */
  #nodeVersions: Readonly<Record<string, string>> = {};
  /** A host that was coming or going when it was cut off: it need not come up for the cluster to be ready. */
  #unsettled: string | undefined;
  readonly #operations = new OneAtATime();
  /** Manifests that nothing can be started from. */
  #broken: readonly StartFailure[] = [];
  readonly #backups: BackupRunner;
  readonly #faults: FaultBoard;

  constructor(options: SupervisorOptions) {
    const { folder, clock } = options;
    this.folder = folder;
    this.#config = folder.config;
    this.#options = options;
    this.#startedAtMs = clock.nowMs();
    this.#originMs = clock.monotonicMs();
    this.#backups = new BackupRunner({
      dataDirectory: folder.directory,
      clock,
      log: options.log,
      save: () => saveClusterSnapshot(this, { report: silentReport, prefix: SCHEDULED_PREFIX }),
    });
    this.#balancer = new BalancerKeeper({
      clock,
      start: (events) => startLoadBalancerThread(options.program, this.#balancerConfig(), events),
      onChange: () => this.#changed(),
      onProblem: (message) => options.log.write('error', `${message}; another one is started`),
    });
    this.#faults = new FaultBoard({
      ends: () => [
        ...this.hosts.map(({ plan }) => linkEndOf(plan)),
        { name: LOAD_BALANCER, addresses: [loadBalancerAddress(folder.config.spec)] },
      ],
      tell: (end, faults) => {
        if (end === LOAD_BALANCER) this.#balancer.setLinks(faults.links);
        else this.#links.get(end)?.setFaults(faults);
      },
      onChange: () => this.#changed(),
    });
    for (const plan of planHosts(folder.config)) this.#link(plan);
  }

  #link(plan: HostPlan): HostLink {
    const { folder, launch, clock } = this.#options;
    const link: HostLink = new HostLink({
      plan,
      start: () => ({
        dataDirectory: folder.directory,
        host: plan,
        network: this.#config.spec.network,
        firstNodeIndex: firstNodePlace(plan),
        nodeCount: nodePlaces(this.#config),
        kubernetesVersion: this.#config.spec.kubernetesVersion,
        nodeVersions: this.#nodeVersions,
      }),
      launch,
      clock,
      originMs: this.#originMs,
      onChange: () => this.#changed(),
      onExited: () => this.#faults.forget(plan.name),
      onServing: (component) => void this.#whenServing(link, component),
    });
    this.#links.set(plan.name, link);
    return link;
  }

  get clock(): Clock {
    return this.#options.clock;
  }

  get endpoint(): string {
    const { network } = this.folder.config.spec;
    return `https://${loadBalancerAddress({ network })}:${PORTS.apiServer}`;
  }

  /** With every right there is; undefined before `start`. */
  get client(): Client | undefined {
    return this.#client;
  }

  state(): ClusterState {
    return {
      phase: this.#phase,
      kubernetesVersion: this.#config.spec.kubernetesVersion,
      startedAtMs: this.#startedAtMs,
      readyAfterMs: this.#readyAfterMs,
      endpoint: this.endpoint,
      warnings: [...this.#warnings],
      hosts: [...this.#links.values()].map((link) => link.state()),
      loadBalancer: this.#balancer.state(),
      faults: this.#faults.list(),
    };
  }

  onChange(listener: (state: ClusterState) => void): Disposable {
    this.#listeners.add(listener);
    return toDisposable(() => this.#listeners.delete(listener));
  }

  host(name: string): HostLink {
    const link = this.#links.get(name);
    if (link) return link;
    throw new ReasonError(
      'NotFound',
      `there is no host ${name}; there is ${[...this.#links.keys()].join(', ')}`,
    );
  }

  /** As of now: an upgrade changes the release. */
  get config(): ClusterConfig {
    return this.#config;
  }

  setConfig(config: ClusterConfig): void {
    this.#config = config;
    this.#changed();
  }

  /** What is broken on purpose. */
  get faults(): FaultBoard {
    return this.#faults;
  }

  /** Snapshots by the schedule. */
  get backups(): BackupRunner {
    return this.#backups;
  }

  /** One at a time of what changes hosts as a whole: two would each count on the other's hosts. */
  async exclusively<T>(what: string, run: () => Promise<T>): Promise<T> {
    this.#life.signal.throwIfAborted();
    return this.#operations.run(what, run);
  }

  /** For what an operation asks again and again. Rejects as soon as the cluster is being stopped. */
  wait(delayMs: number): Promise<void> {
    return pause(this.#options.clock, delayMs, this.#life.signal);
  }

  /** After `stop`: a thread of this process does not end, and the process would wait for it for ever. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  /** Aborted when the cluster is being stopped. */
  get signal(): AbortSignal {
    return this.#life.signal;
  }

  get hosts(): readonly HostLink[] {
    return [...this.#links.values()];
  }

  /** For the next start of a host, and for the kubelets that run. */
  setNodeVersions(versions: Readonly<Record<string, string>>): void {
    this.#nodeVersions = versions;
  }

  /** A host that the configuration has now. Resolves when its process runs. */
  async attachHost(plan: HostPlan): Promise<HostLink> {
    const link = this.#links.get(plan.name) ?? this.#link(plan);
    if (!link.isAlive) await this.startHost(plan.name);
    return link;
  }

  /** Forgets a host that has ended. */
  async detachHost(name: string): Promise<void> {
    await this.drainApiServer(name);
    this.#links.delete(name);
    this.#changed();
  }

  /**
   * Takes an API server out of the load balancer, which sends nobody there from then on; who is there is told to go by
   * the server itself. It is taken in again when it is ready the next time.
   */
  async drainApiServer(name: string): Promise<void> {
    if (!this.#balancer.remove(name)) return;
    const { clock } = this.#options;
    const deadlineMs = clock.monotonicMs() + DRAIN_WAIT_MS;
    const isIn = (): boolean => this.#balancer.state()?.backends.some((one) => one.name === name) === true;
    while (isIn() && clock.monotonicMs() < deadlineMs) await this.wait(DRAIN_POLL_MS);
  }

  /** Resolves when the cluster is ready; rejects with one line that says what is missing. */
  async start(): Promise<void> {
    const { folder, clock, log } = this.#options;
    const authority = await readFile(certificatePath(folder.directory, 'ca'), 'utf8');
    // Loopback alone: the health of a server is asked for before its policies are there, so without a certificate.
    this.#agent = new https.Agent({ ca: authority, keepAlive: true });
    this.#owned.defer(() => this.#agent?.destroy());
    this.#owned.defer(() => this.#plainAgent.destroy());
    if (await undoInterruptedRestore(folder.directory))
      this.#warnings.push('a restore was cut off and has been undone; restore again');
    const [upgrade, change] = await Promise.all([
      readUpgradeState(folder.directory),
      readMembershipChange(folder.directory),
    ]);
    this.#broken = await brokenManifests(folder.directory, [...this.#links.keys()]);
    this.#warnings.push(...lostKeys(folder.directory));
    this.#nodeVersions = upgrade?.nodeVersions ?? {};
    this.#unsettled = change?.host;
    // Whoever stops a cluster that is only about to start finds nothing to stop, and must not be left with it.
    this.#life.signal.throwIfAborted();
    for (const link of this.#links.values()) link.launch();
    await this.#balancer.start();
    this.#life.signal.throwIfAborted();
    const config = await loadKubeconfig(superAdminKubeconfigFile(folder.directory));
    const client = connect(config, { clock, random: systemRandom, log, userAgent: 'pilothouse' });
    this.#owned.add(client);
    this.#client = client;
    await this.#untilReady(client);
    await installAddons(client, folder.directory);
    await this.#backups.start();
    this.#owned.add(this.#backups);
    this.#readyAfterMs = Math.round(clock.monotonicMs() - this.#originMs);
    this.#phase = 'ready';
    this.#changed();
    void this.#settle();
  }

  #balancerConfig(): LoadBalancerConfig {
    const { directory, config } = this.folder;
    return {
      address: loadBalancerAddress({ network: config.spec.network }),
      port: PORTS.apiServer,
      backends: [],
      caFile: certificatePath(directory, 'ca'),
      certFile: '',
      keyFile: '',
      firstBackendWaitMs: FIRST_BACKEND_WAIT_MS,
    };
  }

  /** Goes on with a change of members that was cut off. */
  async #settle(): Promise<void> {
    if (this.#unsettled === undefined) return;
    const { log } = this.#options;
    try {
      const outcome = await this.exclusively('a change of members that was begun before', () =>
        resumeMembership(this),
      );
      if (outcome !== undefined) this.#warnings.push(outcome);
    } catch (error) {
      this.#warnings.push(`members: ${messageOf(error)}`);
      log.write('error', 'a change of members could not be ended', { error: messageOf(error) });
    }
    this.#unsettled = undefined;
    this.#changed();
  }

  /** Everything that a start waits for, in the order in which it is told when it is missing. */
  async #untilReady(client: Client): Promise<void> {
    const { clock } = this.#options;
    const passes = async (gate: Gate, pollMs: number, deadlineMs: number): Promise<string | undefined> => {
      for (;;) {
        const askedMs = clock.monotonicMs();
        const missing = await gate();
        if (missing === undefined) return undefined;
        this.#assertStartable();
        const answeredMs = clock.monotonicMs();
        if (answeredMs > deadlineMs) return missing;
        // A look at a thousand nodes is work for those that are looked at: it takes no more than a share of the time.
        await this.wait(Math.max(pollMs, (answeredMs - askedMs) * POLL_SHARE));
      }
    };
    const wait = async (gate: Gate, pollMs: number): Promise<void> => {
      const missing = await passes(gate, pollMs, this.#originMs + START_TIMEOUT_MS);
      if (missing === undefined) return;
      throw new ReasonError(
        'NotReady',
        `the cluster is not ready after ${START_TIMEOUT_MS / 1000} s: ${missing}`,
      );
    };
    // With the first API server that answers: until then the cloud-controller-manager is refused, and waits to ask again.
    const cloudAccess: Gate = () => ensureCloudAccess(client).then(() => undefined, messageOf);
    await Promise.all([
      wait(() => Promise.resolve(this.#missingComponent()), POLL_MS),
      wait(cloudAccess, NODES_POLL_MS),
    ]);
    const failures = startFailures(this.#startLook());
    for (const { message } of failures) this.#warnings.push(message);
    const isDown = ({ plan }: HostLink): boolean =>
      failures.some(({ host, component }) => host === plan.name && component === undefined);
    const staying = this.hosts.filter((link) => link.plan.name !== this.#unsettled && !isDown(link));
    const nodes = staying.flatMap(({ plan }) => plan.nodes.map(({ name }) => name));
    await wait(nodesGate(client, nodes, this.#startedAtMs), NODES_POLL_MS);
    const controlPlanes = staying.filter(({ plan }) => plan.role === 'control-plane');
    await markControlPlanes(
      client,
      controlPlanes.map(({ plan }) => plan.name),
    );
    const leaders = leadersGate(client, this.#electedComponents(), this.#startedAtMs);
    const missing = await passes(leaders, NODES_POLL_MS, clock.monotonicMs() + LEADERS_WAIT_MS);
    // A cluster without a scheduler serves, and is the place to find out why there is none.
    if (missing !== undefined) this.#warnings.push(missing);
  }

  #electedComponents(): readonly string[] {
    return ELECTED_COMPONENTS.filter((name) =>
      this.hosts.some((link) => link.component(name)?.phase === 'ready'),
    );
  }

  /** What is not ready among what hosts have started; undefined when all is. */
  #missingComponent(): string | undefined {
    const failures = startFailures(this.#startLook());
    for (const link of this.#links.values()) {
      const { name, phase, message, components } = link.state();
      const failed = failures.filter(({ host }) => host === name).map(({ component }) => component);
      if (name === this.#unsettled || failed.includes(undefined)) continue;
      if (phase !== 'running')
        return `host ${name} is ${phase}${message === undefined ? '' : `: ${message}`}`;
      const late = components.find(
        (component) => component.phase !== 'ready' && !failed.includes(component.name),
      );
      if (late)
        return `${late.name} on ${name} is ${late.phase}${late.message === undefined ? '' : `: ${late.message}`}`;
    }
    return undefined;
  }

  #startLook(): StartLook {
    const staying = this.hosts.filter(({ plan }) => plan.name !== this.#unsettled);
    const named = (isMeant: (plan: HostPlan) => boolean): readonly string[] =>
      staying.filter(({ plan }) => isMeant(plan)).map(({ plan }) => plan.name);
    return {
      hosts: staying.map((link) => link.state()),
      members: named(({ etcd }) => etcd !== undefined),
      apiServers: named(({ role }) => role === 'control-plane'),
      broken: this.#broken,
    };
  }

  /** What cannot be had by waiting ends the wait at once, where the rest of the cluster cannot do without it. */
  #assertStartable(): void {
    const look = this.#startLook();
    const fatal = fatalFailure(look, startFailures(look));
    if (fatal !== undefined) throw new ReasonError('NotStartable', fatal);
  }

  async #whenServing(link: HostLink, component: string): Promise<void> {
    const gate = this.#gateOf(link, component);
    const isServing = (): boolean => link.component(component)?.phase === 'serving';
    while (isServing() && (await gate()) !== undefined) {
      if (this.#life.signal.aborted) return;
      await this.wait(POLL_MS).catch(() => undefined);
    }
    if (!isServing()) return;
    if (component === 'kube-apiserver') {
      await (this.#leasesReleased ??= this.#releaseDeadLeases(link));
      // Told when it is ready first: the load balancer's own checks are a second apart.
      const { name, address } = link.plan;
      this.#balancer.add({ name, host: address, port: PORTS.apiServer });
    }
    link.markReady(component);
  }

  #gateOf({ plan }: HostLink, component: string): Gate {
    if (component === 'kube-apiserver' && this.#agent)
      return urlGate(`https://${plan.address}:${PORTS.apiServer}/readyz`, this.#agent);
    if (component === 'etcd')
      return urlGate(`http://${plan.address}:${PORTS.etcdMetrics}/readyz`, this.#plainAgent);
    return () => Promise.resolve(undefined);
  }

  /**
   * Whoever held a lease before this start is dead: the folder was locked and its processes are gone. Done before the
   * first client is let through, so that nobody waits for such a lease to run out.
   */
  async #releaseDeadLeases({ plan }: HostLink): Promise<void> {
    const { folder, clock, log } = this.#options;
    if (folder.isNew) return;
    const config = await loadKubeconfig(superAdminKubeconfigFile(folder.directory));
    const servers = [`https://${plan.address}:${PORTS.apiServer}`];
    const client = connect(
      { ...config, servers },
      { clock, random: systemRandom, log, userAgent: 'pilothouse' },
    );
    try {
      await releaseDeadLeases(client, this.#startedAtMs);
    } catch (error) {
      log.write('warn', 'leases of before could not be released; they run out by themselves', { error });
    } finally {
      client.dispose();
    }
  }

  /** An orderly end of one host; the others go on. */
  async stopHost(name: string): Promise<void> {
    await this.#stopInOrder([this.host(name)]);
  }

  /** Stage by stage over all of them; who does not keep up is not waited for, and killed in the end. */
  async #stopInOrder(links: readonly HostLink[]): Promise<void> {
    const alive = links.filter((link) => link.isAlive);
    for (const link of alive) link.beginStop(STOP_GRACE_MS);
    for (const [index, stage] of STOP_STAGES.entries()) {
      const next = STOP_STAGES[index + 1];
      if (next === undefined) break;
      await Promise.all(alive.map((link) => link.until(() => link.isDrained(stage), STAGE_TIMEOUT_MS)));
      for (const link of alive) link.enterStage(next);
    }
    await Promise.all(
      alive.map(async (link) => {
        if (!(await link.until(() => !link.isAlive, KILL_AFTER_MS))) link.kill();
        await link.until(() => !link.isAlive, KILL_AFTER_MS);
      }),
    );
  }

  async killHost(name: string): Promise<void> {
    const link = this.host(name);
    link.kill();
    await link.until(() => !link.isAlive, KILL_AFTER_MS);
  }

  /** Resolves when the process runs; what is in it becomes ready by and by. */
  async startHost(name: string): Promise<void> {
    const link = this.host(name);
    // What an operation starts while the cluster ends would outlive it.
    this.#life.signal.throwIfAborted();
    link.launch();
    await link.until(() => link.phase !== 'starting', START_TIMEOUT_MS);
    if (link.phase === 'failed')
      throw new ReasonError('HostFailed', `host ${name} failed: ${link.state().message ?? ''}`);
  }

  /** Stops a host in order, starts it, and waits until everything on it is ready again. */
  async restartHost(name: string): Promise<void> {
    const link = this.host(name);
    await this.stopHost(name);
    await this.startHost(name);
    const isReady = (): boolean =>
      link.phase === 'running' && link.state().components.every(({ phase }) => phase === 'ready');
    if (!(await link.until(isReady, START_TIMEOUT_MS)))
      throw new ReasonError(
        'NotReady',
        `host ${name} did not become ready again: ${this.#missingComponent() ?? ''}`,
      );
  }

  /** Freezes the process, as a machine that hangs: it answers nothing and its connections stay open. */
  async pauseHost(name: string): Promise<void> {
    await Promise.resolve(this.host(name).pause());
  }

  async resumeHost(name: string): Promise<void> {
    await Promise.resolve(this.host(name).resume());
  }

  /** As `kill -9` of one component; its kubelet starts it again. */
  async killComponent(host: string, component: string): Promise<void> {
    await Promise.resolve(this.host(host).killComponent(component));
  }

  /** As an operator does it: the manifest is moved out of the folder that the kubelet watches. */
  async stopComponent(host: string, component: string): Promise<void> {
    const link = this.host(host);
    await setManifestAside(this.folder.directory, host, component);
    const isOver = (): boolean => (link.component(component)?.phase ?? 'exited') === 'exited';
    if (!(await link.until(isOver, KILL_AFTER_MS))) link.killComponent(component);
    await link.until(isOver, KILL_AFTER_MS);
  }

  async startComponent(host: string, component: string): Promise<void> {
    this.host(host);
    await putManifestBack(this.folder.directory, host, component);
  }

  async refreshUsage(): Promise<void> {
    await Promise.all(this.hosts.map((link) => link.refreshUsage()));
  }

  /** Ends everything in order: managers and workers, API servers, etcd, the load balancer. Never rejects. */
  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  async #stop(): Promise<void> {
    this.#phase = 'stopping';
    this.#life.abort(new ReasonError('Stopped', 'the cluster is being stopped'));
    this.#changed();
    await this.#stopInOrder(this.hosts);
    // Whoever waits for a host waits in vain from here on: a timer of minutes would keep the process.
    for (const link of this.#links.values()) link.close();
    this.#isStuck = !(await this.#balancer.close());
    this.#owned.dispose();
    // One that was cut off puts back what it has begun, and the folder is its own until then.
    await this.#operations.idle(this.#options.clock, OPERATION_END_MS);
    this.#phase = 'stopped';
    this.#changed();
    this.#listeners.clear();
  }

  #changed(): void {
    if (this.#listeners.size === 0) return;
    const state = this.state();
    for (const listener of this.#listeners) listener(state);
  }
}
