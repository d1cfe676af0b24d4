import { DisposableStore } from '../../base/disposable.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { every } from '../../base/every.ts';
import type { Log } from '../../base/log.ts';
import { decodeConfigChange } from '../../raft/configuration.ts';
import { RaftCore } from '../../raft/core.ts';
import type { RaftStatus } from '../../raft/status.ts';
import { NOBODY, type LogEntry, type MemberId } from '../../raft/types.ts';
import type { MemberConfig } from '../config/config.ts';
import {
  idText,
  membershipChangeOf,
  type ClusterId,
  type Member as ClusterMember,
} from '../membership/index.ts';
import type { PeerTransport } from '../peer/index.ts';
import * as proto from '../proto/index.ts';
import { etcdError } from '../refusals/errors.ts';
import { ETCD_CLUSTER_VERSION } from '../version.ts';
import { ROOT, type Identity } from '../auth/index.ts';
import { AuthGate } from './auth-gate.ts';
import { startAutoCompaction } from './auto-compaction.ts';
import type { BootState } from './boot.ts';
import { proposerOf } from './change-proposer.ts';
import { EarlyElection } from './early-election.ts';
import { LeaseTender } from './lease-tender.ts';
import { LogTrimmer } from './log-trimmer.ts';
import { MemberNotes } from './member-notes.ts';
import type { MemberObserver } from './observer.ts';
import { performRequest } from './perform-request.ts';
import type { MemberPorts } from './ports.ts';
import { Proposals, type Outcome } from './proposals.ts';
import { RaftDriver, type Leadership } from './raft-driver.ts';
import { ReadGate } from './read-gate.ts';
import { decodeRequestEntry, type RequestEntry } from './request-entry.ts';
import type { StateMachine } from './state-machine.ts';
import { StateTransfer } from './state-transfer.ts';
import { Ticker } from './ticker.ts';

/** As etcd: what a request may take when nothing is wrong, and two elections on top. */
const REQUEST_LIMIT_MS = 5000;
const READERS_MAX = 50_000;
const ELECTION_TICKS = 10;
const PUBLISH_RETRY_MS = 500;
/** Once it is known: another member's state, installed here, may know it by an earlier name or address. */
const PUBLISHED_CHECK_MS = 5_000;
const BOOT_NONCE_BOUND = 2 ** 32;
/** Upper bits of the first read context: what is counted from there stays a safe integer. */
const CONTEXT_SPAN_BOUND = 2 ** 20;

export type MemberFailure = (error: unknown) => void;

/**
 * One member of the cluster, without its listeners: drives Raft, persists, applies, and answers what the RPC
 * services ask. Opened by `openMember`; stopped by `close`, or on its own when its disk fails.
 */
export class Member {
  readonly config: MemberConfig;
  readonly id: MemberId;
  readonly clusterId: ClusterId;
  readonly machine: StateMachine;
  readonly raft: RaftCore;
  readonly transport: PeerTransport;
  readonly proposals: Proposals;
  readonly reads: ReadGate;
  readonly auth: AuthGate;
  readonly ports: MemberPorts;
  readonly observer: MemberObserver;
  readonly #driver: RaftDriver;
  readonly #ticker: Ticker;
  readonly #trimmer: LogTrimmer;
  readonly #leases = new LeaseTender(this);
  readonly #transfer: StateTransfer;
  readonly #early: EarlyElection;
  readonly #boot: BootState;
  readonly #owned = new DisposableStore();
  readonly #log: Log;
  readonly #notes: MemberNotes;
  readonly #onFailed: MemberFailure;
  readonly #leaderWaiters = new Set<(leader: MemberId) => void>();
  #leadership: Leadership = { role: 'follower', term: 0, leader: NOBODY };
  #isClosed = false;
  #isPublished = false;
  readonly requestLimitMs: number;

  constructor(
    config: MemberConfig,
    ports: MemberPorts,
    boot: BootState,
    machine: StateMachine,
    transport: PeerTransport,
    options: { readonly observer: MemberObserver; readonly onFailed: MemberFailure },
  ) {
    this.config = config;
    this.ports = ports;
    this.id = boot.memberId;
    this.clusterId = boot.clusterId;
    this.machine = machine;
    this.transport = transport;
    this.observer = options.observer;
    this.#onFailed = options.onFailed;
    this.#boot = boot;
    this.#log = ports.log;
    this.#notes = new MemberNotes({ config, log: ports.log, observer: options.observer });
    const tickMs = config.electionTimeoutMs / ELECTION_TICKS;
    this.requestLimitMs = REQUEST_LIMIT_MS + 2 * config.electionTimeoutMs;
    this.raft = new RaftCore({
      id: this.id,
      random: ports.random,
      electionTicks: ELECTION_TICKS,
      heartbeatTicks: Math.max(1, Math.round(config.heartbeatMs / tickMs)),
      hardState: boot.hardState,
      configuration: boot.configuration,
      log: { mark: boot.mark, entries: boot.entries },
      applied: boot.applied,
    });
    const nowMs = (): number => ports.clock.monotonicMs();
    const wake = (): void => this.#driver.wake();
    this.proposals = new Proposals({
      raft: this.raft,
      member: this.id,
      boot: ports.random.below(BOOT_NONCE_BOUND),
      wake,
      nowMs,
      requestBytesMax: config.requestBytesMax,
      limitMs: this.requestLimitMs,
      leaderlessMs: 3 * config.electionTimeoutMs,
    });
    this.reads = new ReadGate({
      raft: this.raft,
      wake,
      nowMs,
      limitMs: this.requestLimitMs,
      readersMax: READERS_MAX,
      firstContext:
        ports.random.below(CONTEXT_SPAN_BOUND) * BOOT_NONCE_BOUND + ports.random.below(BOOT_NONCE_BOUND),
      timedOut: () => etcdError(this.hasLeader ? 'Timeout' : 'NoLeader'),
      tooMany: () => etcdError('TooManyRequests'),
      onSlow: () => this.observer.readIndexSlow(),
      onFailed: () => this.observer.readIndexFailed(),
    });
    this.auth = new AuthGate({
      machine,
      reads: this.reads,
      jwt: ports.jwt,
      commonNameAuth: config.commonNameAuth,
    });
    // In a quiet cluster nothing may be left to apply after a restart, and reads must not wait for a write.
    this.reads.onApplied(boot.applied);
    this.#transfer = new StateTransfer({
      ports,
      machine,
      raft: this.raft,
      transport,
      wake,
      observer: this.observer,
    });
    this.#trimmer = new LogTrimmer({
      config,
      machine,
      raft: this.raft,
      wal: boot.wal,
      log: ports.log,
      clock: ports.clock,
      onSaved: (seconds, syncSeconds) => this.observer.snapshotSaved(seconds, syncSeconds),
    });
    this.#early = new EarlyElection({
      raft: this.raft,
      id: this.id,
      clock: ports.clock,
      random: ports.random,
      electionTimeoutMs: config.electionTimeoutMs,
      isConnected: (id) => transport.status(id)?.activeSinceMs !== undefined,
      wake,
    });
    this.#ticker = new Ticker({
      clock: ports.clock,
      random: ports.random,
      tickMs,
      ticksUntilDue: () => this.raft.ticksUntilDue(),
      isBusy: () => this.reads.isWaiting || this.proposals.count > 0,
      tick: () => this.#guard(() => this.raft.tick()),
      awake: (nowMs, lateMs) =>
        this.#guard(() => {
          if (this.isLeader) this.#notes.heartbeat(lateMs);
          this.reads.tick(nowMs);
          this.proposals.tick(nowMs);
          this.#leases.tick(nowMs);
          this.#driver.wake();
        }),
    });
    this.#driver = new RaftDriver(this.raft, {
      beforeTurn: () => this.reads.askCollected(),
      persist: (persist) => boot.wal.append(persist),
      install: async (mark) => {
        await this.#transfer.install(mark);
        this.proposals.installed(mark);
        this.#refreshPeers();
        this.reads.onApplied(machine.appliedIndex);
      },
      send: (messages) => transport.send(messages),
      apply: (entries) => this.#apply(entries),
      hasWaiting: () => this.proposals.count > 0,
      whenWritable: () => machine.backend.whenWritable(),
      onReadStates: (states) => this.reads.onReadStates(states),
      onLeadership: (leadership) => this.#onLeadership(leadership),
      onSnapshotsWanted: (ids) => this.#transfer.send(ids),
      onFailed: (error) => this.fail(error),
      defer: ports.defer,
    });
  }

  get leadership(): Leadership {
    return this.#leadership;
  }
  get hasLeader(): boolean {
    return this.#leadership.leader !== NOBODY;
  }
  get isLeader(): boolean {
    return this.#leadership.role === 'leader';
  }
  /** Its name and addresses are known to the cluster: it may serve. */
  get isPublished(): boolean {
    return this.#isPublished;
  }
  get isLearner(): boolean {
    return this.machine.membership.member(this.id)?.isLearner === true;
  }

  get status(): RaftStatus {
    return this.raft.status();
  }

  /** The revision an answer speaks of; the services add who answered. */
  header(): { revision: number } {
    return { revision: this.machine.store.revision };
  }

  /** Listens to peers and begins to take part. Resolves immediately; `published` tells when it may serve. */
  async start(): Promise<void> {
    const { clock } = this.ports;
    const { transport } = this;
    this.#owned.add(
      transport.onMessage((message) =>
        this.#guard(() => {
          this.#ticker.catchUp();
          this.raft.step(message);
          this.#driver.wake();
        }),
      ),
    );
    this.#owned.add(
      transport.onUnreachable((id) => {
        this.raft.reportUnreachable(id);
        this.#driver.wake();
      }),
    );
    this.#owned.add(
      transport.onRefused((id) => {
        if (id !== this.raft.leader) return;
        this.#log.write('info', 'the leader has ended; standing for election', { leader: id.toString(16) });
        this.raft.forgetLeader();
        this.#early.begin();
        this.#driver.wake();
      }),
    );
    this.#owned.add(
      transport.onRemoved(() =>
        this.fail(new ReasonError('Removed', 'this member has been removed from the cluster')),
      ),
    );
    this.#owned.add(this.#transfer.listen());
    await transport.start();
    this.#refreshPeers();
    this.#startTicking();
    this.#owned.add(
      startAutoCompaction(
        this.config.autoCompaction,
        {
          revision: () => this.machine.store.revision,
          isLeader: () => this.isLeader,
          compact: async (revision) => {
            const { mode } = this.config.autoCompaction;
            this.#log.write('info', `starting auto ${mode} compaction`, { revision });
            await this.proposals.propose('compact', proto.CompactionRequest.encode({ revision }));
            this.#log.write('info', `completed auto ${mode} compaction`, { revision });
          },
        },
        clock,
      ),
    );
    const isKnown = (): boolean => this.#isPublished && this.machine.membership.clusterVersion !== undefined;
    this.#owned.add(
      every(
        clock,
        () => (isKnown() ? PUBLISHED_CHECK_MS : PUBLISH_RETRY_MS),
        () => this.#publish(),
      ),
    );
    this.onNextLeader(() => void this.#publish().catch(() => undefined));
    this.#driver.wake();
  }

  /** For what the member asks for on its own: it may do everything. */
  asRoot(): Identity | undefined {
    const { auth } = this.machine;
    return auth.isEnabled ? { username: ROOT, revision: auth.revision } : undefined;
  }

  wake(): void {
    this.#driver.wake();
  }

  /** Calls back once with the leader when it is another than now; dispose to stop waiting. */
  onNextLeader(listener: (leader: MemberId) => void): () => void {
    this.#leaderWaiters.add(listener);
    return () => this.#leaderWaiters.delete(listener);
  }

  /** A broken invariant stops this member: neither its transport nor its clock could make anything of it. */
  #guard(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.fail(error);
    }
  }

  /** Stops on its own: the disk failed, an invariant is broken, or the cluster removed it. */
  fail(error: unknown): void {
    if (this.#isClosed) return;
    this.#log.write('error', 'member stops', { error: messageOf(error) });
    void this.close().finally(() => this.#onFailed(error));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#owned.dispose();
    this.proposals.rejectAll(() => etcdError('Stopped'));
    this.reads.rejectAll(() => etcdError('Stopped'));
    await this.#driver.stop();
    await this.transport.close();
    await this.#trimmer.settled();
    this.machine.close();
    const failures = await Promise.allSettled([this.machine.backend.close(), this.#boot.wal.close()]);
    for (const failure of failures)
      if (failure.status === 'rejected')
        this.#log.write('warn', 'member did not close cleanly', { error: messageOf(failure.reason) });
  }

  #startTicking(): void {
    // A leader would be heard soon, and a pre-vote disturbs none: most of the first timeout is skipped.
    if (this.config.initialElectionTickAdvance)
      for (let ticks = 0; ticks < ELECTION_TICKS - 1; ticks += 1) this.raft.tick();
    this.#owned.add(this.#early);
    this.#early.begin();
    this.#owned.add(this.#ticker);
    this.#ticker.start();
  }

  #apply(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      this.proposals.appliedTerm(entry.term);
      if (entry.kind === 'normal') this.#applyRequest(entry);
      else if (entry.kind === 'config') this.#applyConfiguration(entry);
      this.machine.finish(entry);
    }
    const last = entries.at(-1);
    if (last === undefined) return;
    this.reads.onApplied(last.index);
    this.observer.applied(entries.length, last.index);
    this.#trimmer.consider(last.index);
  }

  #applyRequest(entry: LogEntry): void {
    const request = decodeRequestEntry(entry.data);
    this.proposals.applied(request, this.#outcomeOf(request, entry.index));
  }

  #outcomeOf(request: RequestEntry, index: number): Outcome {
    const startedMs = this.ports.clock.monotonicMs();
    let outcome: Outcome;
    try {
      const value = performRequest(this.machine, request, index);
      outcome = { value: Object.assign(value, { header: this.header() }) };
    } catch (error) {
      // What was refused is refused everywhere alike. Anything else is a defect and stops this member.
      if (!(error instanceof ReasonError)) throw error;
      outcome = { error };
    }
    this.#notes.applied(request, this.ports.clock.monotonicMs() - startedMs, 'value' in outcome);
    return outcome;
  }

  #applyConfiguration(entry: LogEntry): void {
    const { membership } = this.machine;
    const configChange = decodeConfigChange(entry.data);
    const change = membershipChangeOf(configChange);
    const proposer = proposerOf(configChange.context);
    try {
      const changesRaft = change === undefined || membership.apply(change);
      if (changesRaft) this.machine.saveConfiguration(this.raft.applyConfiguration(entry));
      if (proposer) this.proposals.applied(proposer, { value: { header: this.header() } });
    } catch (error) {
      if (!(error instanceof ReasonError)) throw error;
      this.#log.write('warn', 'membership change refused', { error: error.message });
      if (proposer) this.proposals.applied(proposer, { error });
      return;
    }
    if (change !== undefined) this.#notes.membership(change, { id: this.id, clusterId: this.clusterId });
    this.#refreshPeers();
    if (change?.kind === 'remove' && change.id === this.id) {
      // Its last words must leave first: the others learn of the commit from them.
      this.ports.clock.after(this.config.electionTimeoutMs, () =>
        this.fail(new ReasonError('Removed', 'this member has been removed from the cluster')),
      );
    }
  }

  #refreshPeers(): void {
    const { membership } = this.machine;
    const known: readonly ClusterMember[] =
      membership.members.length > 0 ? membership.members : this.#boot.plannedMembers;
    this.transport.setPeers(
      known.filter(({ id }) => id !== this.id).map(({ id, peerURLs }) => ({ id, urls: peerURLs })),
    );
    this.transport.setRemoved(membership.removedIds);
  }

  #onLeadership(next: Leadership): void {
    const before = this.#leadership;
    this.#leadership = next;
    this.proposals.onLeader(next.leader);
    // The heartbeats of a new leader do not wait until the follower that it was would have awoken.
    if (next.role !== before.role) this.#ticker.restart();
    const { lessor } = this.machine;
    if (next.role === 'leader' && before.role !== 'leader') lessor.promote(this.config.electionTimeoutMs);
    if (next.role !== 'leader' && lessor.isPrimary) lessor.demote();
    this.#notes.leadership(this.id, before, next);
    if (next.leader !== before.leader) {
      this.observer.leaderChanged(before.leader, next.leader, this.isLeader);
      if (next.leader === NOBODY) return;
      this.reads.onNewLeader();
      for (const listener of [...this.#leaderWaiters]) {
        this.#leaderWaiters.delete(listener);
        listener(next.leader);
      }
    }
  }

  /** Tells the cluster this member's name and client addresses, and as leader the cluster's version. */
  async #publish(): Promise<void> {
    const { membership } = this.machine;
    const own = membership.member(this.id);
    if (own === undefined || !this.hasLeader) return;
    if (this.isLeader && membership.clusterVersion === undefined)
      await this.proposals.propose('clusterVersion', Buffer.from(ETCD_CLUSTER_VERSION));
    const { name, advertiseClientUrls } = this.config;
    const isKnown = own.name === name && own.clientURLs.join() === advertiseClientUrls.join();
    if (!isKnown)
      await this.proposals.propose(
        'memberAttributes',
        proto.Member.encode({ ID: BigInt(this.id), name, clientURLs: [...advertiseClientUrls] }),
      );
    if (!this.#isPublished)
      this.#log.write('info', 'published local member to cluster through raft', {
        'local-member-id': idText(this.id),
        'local-member-attributes': `{Name:${name} ClientURLs:[${advertiseClientUrls.join(' ')}]}`,
        'cluster-id': idText(this.clusterId),
      });
    this.#isPublished = true;
  }
}
