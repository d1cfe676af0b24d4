import { readFile } from 'node:fs/promises';
import { type Said, SaidError, saidOf, say, together, verbatim } from '../../contract/index.ts';
import type { Clock } from '../../base/clock.ts';
import { DisposableStore, toDisposable, type Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { systemRandom } from '../../base/node/random.ts';
import { connect, loadOwnKubeconfig, pause, type Client } from '../../client/index.ts';
import { certificatePath } from '../../pki/index.ts';
import { loadBalancerAddress } from '../config/addresses.ts';
import { runtimeEndpointsOf, type ClusterConfig } from '../config/config.ts';
import { firstNodePlace, nodePlaces, planHosts, type HostPlan } from '../config/hosts.ts';
import { SCHEDULED_PREFIX } from '../data-folder/backup-name.ts';
import { BackupRunner } from '../backup/backup-runner.ts';
import { undoInterruptedRestore } from '../data-folder/member-folders.ts';
import { saveClusterSnapshot } from '../backup/save-snapshot.ts';
import { OneAtATime } from '../operation/one-at-a-time.ts';
import { silentReport } from '../operation/step-report.ts';
import { FaultBoard, linkEndOf, LOAD_BALANCER } from './fault-board.ts';
import { readMembershipChange } from '../data-folder/membership-journal.ts';
import { readUpgradeState } from '../data-folder/upgrade-state.ts';
import { superAdminKubeconfigFile } from '../data-folder/layout.ts';
import type { DataFolder } from '../data-folder/open.ts';
import { brokenManifests, lostKeys } from '../data-folder/look-at-files.ts';
import { dnsHosts, PORTS } from '../manifests/control-plane.ts';
import { installAddons } from './bootstrap.ts';
import { BalancerKeeper } from './balancer-keeper.ts';
import type { LoadBalancerConfig } from '../load-balancer/run-load-balancer.ts';
import type { HostLauncher } from './host-launcher.ts';
import { HostCommands } from './host-commands.ts';
import { CertificateKeeper } from './certificate-keeper.ts';
import { HostEvents } from './host-events.ts';
import { HostKeeper, type HostCrash } from './host-keeper.ts';
import { HostLink } from './host-link.ts';
import { startLoadBalancerThread } from '../load-balancer/load-balancer-thread.ts';
import { Readiness } from './readiness.ts';
import { ServingGates } from './serving-gates.ts';
import type { StartFailure } from './start-failures.ts';
import type { ClusterPhase, ClusterState } from '../state/cluster-state.ts';
import { SCHEDULED_SNAPSHOT } from '../timeline/action-draft.ts';
import { Timeline } from '../timeline/timeline.ts';

/** Below the bound within which clients need an answer. */
const FIRST_BACKEND_WAIT_MS = 8_000;
/** For the load balancer to say that it has taken one out. */
const DRAIN_WAIT_MS = 1_000;
const DRAIN_POLL_MS = 5;
/** What is in progress puts back what it has to; no one waits longer for it. */
const OPERATION_END_MS = 10_000;

export interface SupervisorOptions {
  readonly folder: DataFolder;
  /** The program of `host/program.ts`, for the thread of the load balancer. */
  readonly program: URL;
  readonly launch: HostLauncher;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends a change of members that a crash has cut off; called once the rest of the cluster is ready. */
  readonly resumeMembership: (supervisor: Supervisor) => Promise<Said | undefined>;
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
  readonly #balancer: BalancerKeeper;
  #stopping: Promise<void> | undefined;
  #isStuck = false;
  #client: Client | undefined;
  readonly #warnings: Said[] = [];
  #phase: ClusterPhase = 'starting';
  #readyAfterMs: number | undefined;
  /** Kubelets that an upgrade has moved, or has yet to move, by node. */
  #nodeVersions: Readonly<Record<string, string>> = {};
  /** A host that was coming or going when it was cut off: it need not come up for the cluster to be ready. */
  #unsettled: string | undefined;
  readonly #operations = new OneAtATime();
  /** Manifests that nothing can be started from. */
  #broken: readonly StartFailure[] = [];
  readonly #backups: BackupRunner;
  readonly #certificates: CertificateKeeper;
  readonly #faults: FaultBoard;
  readonly #gates: ServingGates;
  readonly #readiness: Readiness;
  readonly #keeper: HostKeeper;
  readonly #events: HostEvents;
  /** What is done to single hosts and components. */
  readonly commands: HostCommands;
  /** What happens to the cluster, recorded while this supervisor runs it. */
  readonly timeline: Timeline;

  constructor(options: SupervisorOptions) {
    const { folder, clock } = options;
    this.folder = folder;
    this.#config = folder.config;
    this.#options = options;
    this.#startedAtMs = clock.nowMs();
    this.#originMs = clock.monotonicMs();
    this.timeline = new Timeline({ dataDirectory: folder.directory, clock, log: options.log });
    this.onChange((state) => this.timeline.observeState(state));
    this.#backups = new BackupRunner({
      dataDirectory: folder.directory,
      clock,
      log: options.log,
      save: (directory) =>
        this.timeline.during(SCHEDULED_SNAPSHOT.draft, SCHEDULED_SNAPSHOT.failed, () =>
          saveClusterSnapshot(this, { report: silentReport, prefix: SCHEDULED_PREFIX, directory }),
        ),
    });
    this.#certificates = new CertificateKeeper({
      dataDirectory: folder.directory,
      clock,
      log: options.log,
      alone: (what, run) => this.#operations.run(what, run),
    });
    this.#balancer = new BalancerKeeper({
      clock,
      start: (events) => startLoadBalancerThread(options.program, this.#balancerConfig(), events),
      onChange: () => this.#changed(),
      onProblem: (message) => options.log.write('error', `${message}; restarting it`),
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
    const { log } = options;
    const [startedAtMs, originMs, { signal }] = [this.#startedAtMs, this.#originMs, this.#life];
    this.#gates = this.#owned.add(
      new ServingGates({ folder, balancer: this.#balancer, clock, log, startedAtMs, signal }),
    );
    this.#readiness = new Readiness({
      clock,
      startedAtMs,
      originMs,
      hosts: () => this.hosts,
      unsettled: () => this.#unsettled,
      broken: () => this.#broken,
      wait: (delayMs) => this.wait(delayMs),
      onWarning: (message) => this.#warnings.push(message),
    });
    this.commands = new HostCommands({
      dataDirectory: folder.directory,
      host: (name) => this.host(name),
      hosts: () => this.hosts,
      signal,
      release: (name) => this.#keeper.release(name),
      missing: () => this.#readiness.missingComponent(),
    });
    this.#events = this.#owned.add(new HostEvents({ clock, log, client: () => this.#client }));
    this.#keeper = this.#owned.add(
      new HostKeeper({
        clock,
        log,
        isBusy: () => this.#operations.isBusy,
        isUnsettled: async (name) => (await readMembershipChange(folder.directory))?.host === name,
        start: (name) => this.commands.launch(this.host(name)),
        onCrash: (crash) => this.#crashed(crash),
        onLeft: (name) => this.#links.get(name)?.explain(say('exit.membership')),
      }),
    );
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
        runtime: this.#config.spec.runtime,
        machineNodes: this.#config.spec.workers || this.#config.spec.controlPlanes,
        runtimeEndpoints: runtimeEndpointsOf(this.#config.spec),
        firstNodeIndex: firstNodePlace(plan),
        nodeCount: nodePlaces(this.#config),
        dnsServers: dnsHosts(this.#config).map(({ address }) => address),
        kubernetesVersion: this.#config.spec.kubernetesVersion,
        nodeVersions: this.#nodeVersions,
        isAdvertised: this.#config.spec.advertiseAddress !== undefined,
      }),
      launch,
      clock,
      originMs: this.#originMs,
      onChange: () => this.#changed(),
      onLaunched: () => this.#keeper.started(plan.name),
      onExited: ({ isWanted, reason }) => {
        this.#faults.forget(plan.name);
        // Before the cluster is ready a host that does not come up is a failure of the start, and told as one.
        if (!isWanted && this.#phase === 'ready') this.#keeper.exited(plan.name, reason);
      },
      restarts: () => this.#keeper.restartsOf(plan.name),
      onServing: (component) => void this.#gates.whenServing(link, component),
    });
    this.#links.set(plan.name, link);
    return link;
  }

  #crashed(crash: HostCrash): void {
    const link = this.#links.get(crash.host);
    link?.explain(together([crash.reason, crash.outcome]));
    if (link) this.#events.exited(link.plan, crash);
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
    throw new SaidError(
      'NotFound',
      say('failure.noHost', { host: name, known: [...this.#links.keys()].join(', ') }),
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

  /** What is broken intentionally. */
  get faults(): FaultBoard {
    return this.#faults;
  }

  /** Snapshots by the schedule. */
  get backups(): BackupRunner {
    return this.#backups;
  }

  /** One at a time of what changes hosts as a whole: two would each count on the other's hosts. */
  async exclusively<T>(what: Said, run: () => Promise<T>): Promise<T> {
    this.#life.signal.throwIfAborted();
    return this.#operations.run(what, run);
  }

  /** For what an operation asks again and again. Rejects as soon as the cluster is stopping. */
  wait(delayMs: number): Promise<void> {
    return pause(this.#options.clock, delayMs, this.#life.signal);
  }

  /** After `stop`: a thread of this process does not end, and the process would wait for it for ever. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  /** Aborted when the cluster is stopping. */
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
    if (!link.isAlive) await this.commands.start(plan.name);
    return link;
  }

  /** Forgets a host that has ended. */
  async detachHost(name: string): Promise<void> {
    await this.drainApiServer(name);
    this.#keeper.release(name);
    this.#links.delete(name);
    this.#changed();
  }

  /**
   * Takes an API server out of the load balancer, which sends no one there from then on; who is there is told to go by
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
    this.#gates.trust(authority);
    if (await undoInterruptedRestore(folder.directory)) this.#warnings.push(say('warning.restoreRolledBack'));
    const [upgrade, change] = await Promise.all([
      readUpgradeState(folder.directory),
      readMembershipChange(folder.directory),
    ]);
    this.#broken = await brokenManifests(folder.directory, [...this.#links.keys()]);
    this.#warnings.push(...lostKeys(folder.directory));
    this.#nodeVersions = upgrade?.nodeVersions ?? {};
    this.#unsettled = change?.host;
    // Anyone who stops a cluster that is only about to start finds nothing to stop, and must not be left with it.
    this.#life.signal.throwIfAborted();
    void this.timeline.start(this.#config.spec.kubernetesVersion);
    for (const link of this.#links.values()) link.launch();
    await this.#balancer.start();
    this.#life.signal.throwIfAborted();
    const config = await loadOwnKubeconfig(superAdminKubeconfigFile(folder.directory));
    const client = connect(config, { clock, random: systemRandom, log, userAgent: 'pilothouse' });
    this.#owned.add(client);
    this.#client = client;
    await this.#readiness.untilReady(client);
    this.#warnings.push(...(await installAddons(client, folder)).map(verbatim));
    await this.#backups.start();
    this.#owned.add(this.#backups);
    // One of the drills lets certificates expire.
    if (this.#config.spec.purpose !== 'drills') this.#certificates.start();
    this.#owned.add(this.#certificates);
    this.#readyAfterMs = Math.round(clock.monotonicMs() - this.#originMs);
    this.#phase = 'ready';
    this.#changed();
    this.timeline.watchApi(client);
    void this.#settle();
  }

  #balancerConfig(): LoadBalancerConfig {
    const { directory } = this.folder;
    const { network, advertiseAddress } = this.#config.spec;
    return {
      address: loadBalancerAddress({ network }),
      port: PORTS.apiServer,
      ...(advertiseAddress !== undefined && { advertised: advertiseAddress }),
      backends: [],
      caFile: certificatePath(directory, 'ca'),
      certFile: '',
      keyFile: '',
      firstBackendWaitMs: FIRST_BACKEND_WAIT_MS,
    };
  }

  /** Continues with a change of members that was cut off. */
  async #settle(): Promise<void> {
    if (this.#unsettled === undefined) return;
    const { log, resumeMembership } = this.#options;
    try {
      const outcome = await this.exclusively(say('exclusive.resume'), () => resumeMembership(this));
      if (outcome !== undefined) this.#warnings.push(outcome);
    } catch (error) {
      this.#warnings.push(say('warning.members', { why: saidOf(error) }));
      log.write('error', 'failed to resume a membership change', { error: messageOf(error) });
    }
    this.#unsettled = undefined;
    this.#changed();
  }

  /** Ends everything in order: managers and workers, API servers, etcd, the load balancer. Never rejects. */
  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  async #stop(): Promise<void> {
    this.#phase = 'stopping';
    this.timeline.endWatches();
    this.#keeper.dispose();
    this.#life.abort(new SaidError('Stopped', say('failure.clusterStopping')));
    this.#changed();
    await this.commands.stopInOrder(this.hosts);
    // Anyone who waits for a host waits in vain from here on: a timer of minutes would keep the process.
    for (const link of this.#links.values()) link.close();
    this.#isStuck = !(await this.#balancer.close());
    this.#owned.dispose();
    // One that was cut off puts back what it has begun, and the folder is its own until then.
    await this.#operations.idle(this.#options.clock, OPERATION_END_MS);
    this.#phase = 'stopped';
    this.#changed();
    this.#listeners.clear();
    await this.timeline.close();
  }

  #changed(): void {
    if (this.#listeners.size === 0) return;
    const state = this.state();
    for (const listener of this.#listeners) listener(state);
  }
}
