import { ReasonError, messageOf } from '../../base/errors.ts';
import { BOOTSTRAP_TERM, EMPTY_CONFIGURATION, bootstrapLog } from '../../raft/configuration.ts';
import type { Configuration, HardState, LogEntry, MemberId } from '../../raft/types.ts';
import type { MemberConfig } from '../config/config.ts';
import { META, type Backend } from '../mvcc/backend/backend.ts';
import {
  encodeMembershipChange,
  idText,
  matchExisting,
  namedCluster,
  planCluster,
  type ClusterPlan,
  type Member,
} from '../membership/index.ts';
import { Wal, type WalContents, type WalOptions } from '../wal/index.ts';
import { forceNewCluster } from './force-new-cluster.ts';
import { decodeClusterInfo, PEER_CLUSTER_INFO, type ClusterInfo } from './peer-requests.ts';
import type { MemberIdentity, MemberPorts } from './ports.ts';

const PROBE_LIMIT_MS = 2000;

/** The entry that a state made from a snapshot file stands for; its log begins after it. */
export const RESTORED_INDEX = 1;

const REJOIN_ADVICE =
  'put its data folder back from a copy, or remove this member, delete its data folder and add it again; ' +
  'where no other member is left, restore a snapshot';

/** What a member starts from: what its disk says, or what its flags say on the first start. */
export interface BootState extends MemberIdentity {
  readonly wal: Wal;
  readonly backend: Backend;
  readonly hardState: HardState;
  readonly configuration: Configuration;
  readonly mark: { readonly index: number; readonly term: number };
  readonly entries: readonly LogEntry[];
  readonly applied: number;
  readonly isFirstStart: boolean;
  /** Peers to dial before the log has told who they are. */
  readonly plannedMembers: readonly Member[];
}

/** Go's JSON of raftpb.ConfState, as etcd keeps it: a snapshot of ours is one of etcd's. */
interface ConfState {
  readonly voters?: readonly MemberId[];
  readonly voters_outgoing?: readonly MemberId[];
  readonly learners?: readonly MemberId[];
  readonly learners_next?: readonly MemberId[];
}

export const readConfiguration = (view: Pick<Backend, 'get'>): Configuration => {
  const stored = view.get('meta', META.confState);
  if (stored === undefined) return EMPTY_CONFIGURATION;
  const state = JSON.parse(stored.toString()) as ConfState;
  return {
    voters: state.voters ?? [],
    votersOutgoing: state.voters_outgoing ?? [],
    learners: state.learners ?? [],
    learnersNext: state.learners_next ?? [],
  };
};

export const encodeConfiguration = (configuration: Configuration): Buffer => {
  const { voters, votersOutgoing, learners, learnersNext } = configuration;
  const ifAny = (name: keyof ConfState, ids: readonly MemberId[]): ConfState =>
    ids.length > 0 ? { [name]: ids } : {};
  return Buffer.from(
    JSON.stringify({
      voters,
      ...ifAny('learners', learners),
      ...ifAny('voters_outgoing', votersOutgoing),
      ...ifAny('learners_next', learnersNext),
      auto_leave: votersOutgoing.length > 0,
    }),
  );
};

export const bootMember = async (
  config: MemberConfig,
  ports: MemberPorts,
  walHooks: Pick<WalOptions, 'onSync' | 'onWrite'>,
): Promise<BootState> => {
  const options: WalOptions = {
    disk: ports.disk,
    directory: config.walDirectory,
    clock: ports.clock,
    ...ports.walSizes,
    ...walHooks,
  };
  const backend = await ports.backends.open();
  try {
    if (!(await Wal.exists(ports.disk, config.walDirectory)))
      return await bootFirst(config, ports, options, backend);
    const opened = await Wal.open(options);
    const { hardState, entries, snapshotMark } = opened.contents;
    // The log was made and the first batch never got there: the first start was cut short.
    const isBare = hardState.term === 0 && entries.length === 0 && snapshotMark === undefined;
    if (isBare)
      return await bootFirst(config, ports, options, backend, opened.wal).catch(async (error: unknown) => {
        await opened.wal.close();
        throw error;
      });
    const state = await bootFromDisk(opened.wal, opened.contents, backend);
    if (config.forceNewCluster) return await bootAlone(state, ports);
    // It joined and has not learnt of anything committed: without peers it could not even answer its leader.
    const isNew = config.initialClusterState === 'existing' && state.hardState.commit === 0;
    if (!isNew) return state;
    try {
      return { ...state, plannedMembers: (await askCluster(config, ports)).members };
    } catch (error) {
      await state.wal.close();
      throw error;
    }
  } catch (error) {
    await backend.close();
    throw error;
  }
};

const bootFromDisk = async (wal: Wal, contents: WalContents, backend: Backend): Promise<BootState> => {
  const walMark = contents.snapshotMark ?? { index: 0, term: 0 };
  const applied = backend.consistentIndex;
  if (applied < walMark.index) {
    await wal.close();
    throw new ReasonError(
      'DataLost',
      `the log begins after entry ${walMark.index} but the database holds only entries up to ${applied}: the database was ` +
        'replaced or damaged; remove this member, delete its data folder and add it again, or restore a snapshot',
    );
  }
  // A crash between taking over a leader's state and writing its mark leaves a database that the log does not lead
  // to: it ends before, or with entries of a leader that was overruled.
  const isAhead =
    applied > walMark.index && contents.entries[applied - walMark.index - 1]?.term !== backend.term;
  const mark = isAhead ? { index: applied, term: backend.term } : walMark;
  const { term, vote, commit } = contents.hardState;
  const hardState: HardState = {
    term: Math.max(term, mark.term),
    vote: mark.term > term ? 0 : vote,
    commit: Math.max(commit, applied),
  };
  const configuration = readConfiguration(backend);
  // Entries will follow the database, not what the log ends with: without the mark they would leave a gap.
  if (isAhead) await wal.append({ snapshot: { ...mark, configuration }, hardState });
  return {
    memberId: contents.metadata.memberId,
    clusterId: BigInt(`0x${contents.metadata.clusterId}`),
    wal,
    backend,
    hardState,
    configuration,
    mark,
    entries: isAhead ? [] : contents.entries,
    applied,
    isFirstStart: false,
    plannedMembers: [],
  };
};

/** The only member from now on, no matter who else was there. */
const bootAlone = async (state: BootState, { log }: MemberPorts): Promise<BootState> => {
  const { entries, added, hardState } = forceNewCluster(state);
  log.write('warn', 'forcing restart member', {
    'cluster-id': idText(state.clusterId),
    'local-member-id': idText(state.memberId),
    'commit-index': state.hardState.commit,
    'removed-members': added.length,
  });
  if (added.length === 0) return state;
  await state.wal.append({ hardState, entries: added });
  return { ...state, entries, hardState };
};

const bootFirst = async (
  config: MemberConfig,
  ports: MemberPorts,
  options: WalOptions,
  backend: Backend,
  made?: Wal,
): Promise<BootState> => {
  assertLogNotLost(config, backend);
  const restored = backend.consistentIndex > 0;
  const plan =
    config.initialClusterState === 'existing' ? await joinPlan(config, ports) : planCluster(config);
  const { localId: memberId, clusterId, members } = plan;
  const wal = made ?? (await Wal.create(options, { memberId, clusterId: idText(clusterId) }));
  const isFounding = config.initialClusterState === 'new' && !restored;
  const entries = isFounding
    ? bootstrapLog(
        members.map((member) => member.id),
        encodeMembershipChange({
          kind: 'bootstrap',
          members: members.map((member) => ({ ...member, name: '' })),
        }),
      )
    : [];
  // A restored state stands for the log before it: the first entries of every member are in it.
  const mark = { index: backend.consistentIndex, term: backend.term };
  const hardState: HardState = isFounding
    ? { term: BOOTSTRAP_TERM, vote: 0, commit: entries.length }
    : { term: mark.term, vote: 0, commit: mark.index };
  const configuration = readConfiguration(backend);
  await wal.append({
    hardState,
    entries,
    ...(restored && { snapshot: { ...mark, configuration } }),
  });
  return {
    memberId,
    clusterId,
    wal,
    backend,
    hardState,
    configuration,
    mark,
    entries,
    applied: mark.index,
    isFirstStart: true,
    plannedMembers: members,
  };
};

/**
 * Votes and promises are in the log alone: a member that begins again with the state that it had could elect a second
 * leader of a term, and entries that were counted as kept by it would be lost.
 */
const assertLogNotLost = ({ walDirectory }: MemberConfig, { consistentIndex }: Backend): void => {
  if (consistentIndex > RESTORED_INDEX)
    throw new ReasonError(
      'DataLost',
      `${walDirectory} holds no log, but the database beside it has entries up to ${consistentIndex}: this member has ` +
        `lost its log, and with it its votes; ${REJOIN_ADVICE}`,
    );
};

/**
 * etcd's own words. `known` is what running members know of the cluster: who has told them its client URLs has run
 * before, and what it had then is gone.
 */
export const assertNotBootstrapped = (
  { walDirectory }: MemberConfig,
  id: MemberId,
  known: readonly Member[],
): void => {
  const isKnown = known.some((member) => member.id === id && member.clientURLs.length > 0);
  if (isKnown)
    throw new ReasonError(
      'DataLost',
      `member ${idText(id)} has already been bootstrapped, but ${walDirectory} holds no log; ${REJOIN_ADVICE}`,
    );
};

const joinPlan = async (config: MemberConfig, ports: MemberPorts): Promise<ClusterPlan> => {
  const plan = matchExisting(config, await askCluster(config, ports));
  assertNotBootstrapped(config, plan.localId, plan.members);
  return plan;
};

/** Asks the running members who belongs to the cluster; the first that answers is believed. */
const askCluster = async (config: MemberConfig, ports: MemberPorts): Promise<ClusterInfo> => {
  const planned = namedCluster(config);
  const others = planned.members.filter((member) => member.id !== planned.localId);
  const failures: string[] = [];
  for (const url of others.flatMap((member) => member.peerURLs)) {
    try {
      return decodeClusterInfo(
        await ports.probe.ask(url, PEER_CLUSTER_INFO, new Uint8Array(0), { timeoutMs: PROBE_LIMIT_MS }),
      );
    } catch (error) {
      failures.push(`${url}: ${messageOf(error)}`);
    }
  }
  throw new ReasonError(
    'NoPeer',
    'cannot fetch cluster info from peer urls: could not retrieve cluster information from the given URLs ' +
      `(${failures.join('; ') || '--initial-cluster names no other member'}); with --initial-cluster-state=existing a ` +
      'member of the running cluster must answer',
  );
};
