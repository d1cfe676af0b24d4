import { naturalOrder } from '../../../base/natural-order.ts';
import type { Clock } from '../../../base/clock.ts';
import { toDisposable, type Disposable } from '../../../base/disposable.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import { type EtcdMember, type EtcdView, MEMBERS_MAX, saidOf, say } from '../../../contract/index.ts';
import type { EtcdAccess } from '../../etcd-operator/operations.ts';
import { MemberProbe, type Probe } from './member-probe.ts';

export const POLL_MS = 1_000;
/** While there is no leader: elections are over in less than the usual pause. */
const POLL_LEADERLESS_MS = 100;
/** How long a round waits for the slow before it says what it knows. */
const ROUND_MS_MAX = 700;

/** What only metrics tell of a member. */
export interface MemberMetrics {
  readonly fsyncP99Ms: number | null;
  readonly proposalsFailed: number | null;
  readonly quotaBytes: number | null;
}

export interface MembersWatchOptions {
  /** Asked again for every connection: certificates are renewed. */
  access(): EtcdAccess;
  /** What a member of ours will be called, by its address among peers; empty for others. */
  plannedName(peerUrl: string): string;
  /** The host of a member of ours; empty for others. */
  hostOf(memberName: string): string;
  metricsOf(memberName: string): MemberMetrics;
  roundTripMs(leaderName: string, toId: string): number | null;
  /** Between two rounds while there is a leader; a second without it. */
  readonly pollMs?: number;
  /** How a member is asked; over the wire without it. */
  probe?(url: string): Probe;
  readonly clock: Clock;
  readonly log: Log;
}

interface Known {
  readonly id: bigint;
  readonly name: string;
  readonly url: string;
  readonly isLearner: boolean;
}

const hex = (id: bigint): string => id.toString(16);

/** As members write them into their status: `memberID:123 alarm:NOSPACE`. */
const ALARM = /memberID:(\d+) alarm:([A-Z]+)/;

const alarmsOf = (errors: readonly string[], id: bigint): string[] => [
  ...new Set(
    errors.flatMap((text) => {
      const [, member, alarm] = ALARM.exec(text) ?? [];
      return member !== undefined && alarm !== undefined && BigInt(member) === id ? [alarm] : [];
    }),
  ),
];

/** The members of etcd, asked again and again. */
export class MembersWatch implements Disposable {
  readonly #options: MembersWatchOptions;
  readonly #probes = new Map<string, Probe>();
  readonly #listeners = new Set<(view: EtcdView) => void>();
  #known: readonly Known[] = [];
  #view: EtcdView;
  #timer: Disposable | undefined;
  #isRunning = false;
  #isPoked = false;
  #isStopped = false;

  constructor(options: MembersWatchOptions) {
    this.#options = options;
    this.#view = { atMs: options.clock.nowMs(), members: [], problem: say('failure.etcd.silent') };
  }

  get view(): EtcdView {
    return this.#view;
  }

  /** The name of a member, where it is known. */
  nameOf(id: string): string {
    return this.#known.find((member) => hex(member.id) === id)?.name ?? id;
  }

  urlOf(name: string): string {
    return this.#known.find((member) => member.name === name)?.url ?? '';
  }

  start(): void {
    this.#timer ??= this.#options.clock.after(0, () => void this.#run());
  }

  /** Something happened to a host: look immediately. */
  poke(): void {
    this.#isPoked = true;
    if (this.#isRunning || this.#isStopped || !this.#timer) return;
    this.#timer.dispose();
    this.#timer = this.#options.clock.after(0, () => void this.#run());
  }

  onView(listener: (view: EtcdView) => void): Disposable {
    this.#listeners.add(listener);
    return toDisposable(() => this.#listeners.delete(listener));
  }

  dispose(): void {
    this.#isStopped = true;
    this.#timer?.dispose();
    this.#listeners.clear();
    for (const probe of this.#probes.values()) probe.dispose();
    this.#probes.clear();
  }

  async #run(): Promise<void> {
    const { clock, log, pollMs = POLL_MS } = this.#options;
    this.#isRunning = true;
    this.#isPoked = false;
    const beganMs = clock.monotonicMs();
    try {
      await this.#round();
    } catch (error) {
      log.write('warn', 'failed to query the etcd members', { error: messageOf(error) });
      this.#view = { ...this.#view, atMs: clock.nowMs(), problem: saidOf(error) };
    }
    this.#isRunning = false;
    if (this.#isStopped) return;
    for (const listener of this.#listeners) listener(this.#view);
    const hasLeader = this.#view.members.some(({ role }) => role === 'leader');
    const pauseMs = this.#isPoked ? 0 : hasLeader ? pollMs : POLL_LEADERLESS_MS;
    const tookMs = clock.monotonicMs() - beganMs;
    this.#timer = clock.after(Math.max(0, pauseMs - tookMs), () => void this.#run());
  }

  async #round(): Promise<void> {
    const { clock, access } = this.#options;
    // Members of a new cluster tell their addresses a moment after they have begun to answer.
    const isAllKnown = this.#known.length > 0 && this.#known.every(({ url }) => url !== '');
    this.#openProbes(isAllKnown ? this.#known.map(({ url }) => url) : access().endpoints);
    const asked = Promise.all([...this.#probes.values()].map((probe) => probe.ask()));
    const isLate = new Promise<void>((resolve) => {
      const timer = clock.after(ROUND_MS_MAX, resolve);
      void asked.then(() => timer.dispose());
    });
    await Promise.race([asked, isLate]);
    if (this.#isStopped) return;
    await this.#list();
    if (!this.#isStopped) this.#view = this.#build();
  }

  #openProbes(urls: readonly string[]): void {
    const { access, clock, probe } = this.#options;
    for (const [url, open] of this.#probes)
      if (!urls.includes(url)) {
        open.dispose();
        this.#probes.delete(url);
      }
    for (const url of urls.slice(0, MEMBERS_MAX))
      if (!this.#probes.has(url)) this.#probes.set(url, probe?.(url) ?? new MemberProbe(url, access, clock));
  }

  /** The newest list of anyone who answers first; the old one stays where no one does. */
  async #list(): Promise<void> {
    const probe = [...this.#probes.values()].find(({ status }) => status);
    if (!probe) return;
    const members = await probe.members().catch(() => undefined);
    if (!members) return;
    this.#known = members
      .map(({ ID, name, clientURLs, peerURLs, isLearner }) => ({
        id: ID,
        // One that has not started yet has not told its name.
        name: name || this.#options.plannedName(peerURLs[0] ?? '') || (peerURLs[0] ?? hex(ID)),
        url: clientURLs[0] ?? '',
        isLearner,
      }))
      .sort((a, b) => naturalOrder(a.name, b.name))
      .slice(0, MEMBERS_MAX);
  }

  #build(): EtcdView {
    const { clock } = this.#options;
    const statusOf = (one: Known) => this.#probeOf(one)?.status;
    const newestIndex = Math.max(0, ...this.#known.map((one) => statusOf(one)?.raftIndex ?? 0));
    // Of several that hold themselves for it, the one of the newest term leads.
    const leader = this.#known
      .filter((one) => statusOf(one)?.leader === one.id)
      .sort((a, b) => statusOf(b)!.raftTerm - statusOf(a)!.raftTerm)[0];
    const errors = this.#known.flatMap((one) => statusOf(one)?.errors ?? []);
    const members = this.#known.map((one) => this.#memberOf(one, { leader, newestIndex, errors }));
    const isAnyUp = members.some(({ role }) => role !== 'unreachable');
    const [firstProbe] = this.#probes.values();
    const problem = isAnyUp
      ? null
      : (members[0]?.problem ?? firstProbe?.problem ?? say('failure.etcd.noMembers'));
    return { atMs: clock.nowMs(), members, problem };
  }

  /** By the address that it tells, or by who answers there. */
  #probeOf({ url, id }: Known): Probe | undefined {
    return (
      this.#probes.get(url) ??
      [...this.#probes.values()].find(({ status }) => status?.header?.memberId === id)
    );
  }

  #memberOf(
    one: Known,
    round: {
      readonly leader: Known | undefined;
      readonly newestIndex: number;
      readonly errors: readonly string[];
    },
  ): EtcdMember {
    const { hostOf, metricsOf, roundTripMs } = this.#options;
    const { id, name, url, isLearner } = one;
    const probe = this.#probeOf(one);
    const status = probe?.status;
    const metrics = metricsOf(name);
    const isLeader = round.leader?.id === id;
    const role = !status ? 'unreachable' : isLeader ? 'leader' : isLearner ? 'learner' : 'follower';
    // Members answer one after the other, but what a follower has it has from its leader, which has it too.
    const raftIndex = status && isLeader ? Math.max(status.raftIndex, round.newestIndex) : status?.raftIndex;
    return {
      id: hex(id),
      name,
      host: hostOf(name),
      clientUrl: url || (probe?.url ?? ''),
      role,
      version: status?.version ?? '',
      raftTerm: status?.raftTerm ?? 0,
      raftIndex: raftIndex ?? 0,
      raftAppliedIndex: status?.raftAppliedIndex ?? 0,
      lag: raftIndex === undefined ? 0 : Math.max(0, round.newestIndex - raftIndex),
      revision: status?.header?.revision ?? 0,
      dbBytes: status?.dbSize ?? 0,
      dbBytesInUse: status?.dbSizeInUse ?? 0,
      // Members before 3.6 do not say it in their status.
      quotaBytes: status && status.dbSizeQuota > 0 ? status.dbSizeQuota : metrics.quotaBytes,
      alarms: alarmsOf(round.errors, id),
      fsyncP99Ms: status ? metrics.fsyncP99Ms : null,
      peerRoundTripMs: round.leader && !isLeader && status ? roundTripMs(round.leader.name, hex(id)) : null,
      proposalsFailed: metrics.proposalsFailed,
      problem: probe ? probe.problem : say('failure.etcd.notStarted'),
    };
  }
}
