import { createHash } from 'node:crypto';
import { say, saidOf, SaidError, together, type Said } from '../../contract/index.ts';
import { readFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import type { SecureContextOptions } from 'node:tls';
import { ReasonError } from '../../base/errors.ts';
import { verifySnapshot, type SnapshotStatus } from '../../etcd/snapshot/index.ts';
import { certificatePath, keyPath } from '../../pki/index.ts';
import type { ClusterConfig } from '../config/config.ts';
import { initialMembers, PORTS } from '../manifests/control-plane.ts';
import { EtcdConnection } from './connection.ts';
import { OPERATOR } from './methods.ts';
import type { EtcdFailure } from './refusals.ts';

export interface MemberView {
  readonly id: string;
  readonly name: string;
  readonly peerUrls: readonly string[];
  readonly clientUrls: readonly string[];
  readonly isLearner: boolean;
  readonly isLeader: boolean;
  /** Undefined where the member does not respond; `problem` then says why. */
  readonly status:
    | {
        readonly version: string;
        readonly dbBytes: number;
        readonly dbBytesInUse: number;
        readonly raftTerm: number;
        readonly raftIndex: number;
        readonly raftAppliedIndex: number;
        readonly revision: number;
        readonly errors: readonly string[];
      }
    | undefined;
  readonly problem: Said | undefined;
}

export interface EtcdAccess {
  readonly endpoints: readonly string[];
  readonly tls: SecureContextOptions;
}

/** How an operator reaches the members of a cluster. */
export const etcdAccessOf = (dataDirectory: string, config: ClusterConfig): EtcdAccess => {
  const { externalEtcd } = config.spec;
  const files = externalEtcd ?? {
    caFile: certificatePath(dataDirectory, 'etcd/ca'),
    certFile: certificatePath(dataDirectory, 'etcd/healthcheck-client'),
    keyFile: keyPath(dataDirectory, 'etcd/healthcheck-client'),
  };
  return {
    endpoints:
      externalEtcd?.endpoints ??
      initialMembers(config).map(({ address }) => `https://${address}:${PORTS.etcdClient}`),
    tls: {
      ca: readFileSync(files.caFile),
      cert: readFileSync(files.certFile),
      key: readFileSync(files.keyFile),
    },
  };
};

export const withMember = async <T>(
  url: string,
  { tls }: EtcdAccess,
  run: (connection: EtcdConnection) => Promise<T>,
): Promise<T> => {
  const connection = new EtcdConnection(url, tls);
  try {
    return await run(connection);
  } finally {
    connection.close();
  }
};

/** Of a member that cannot say anything, yet or any more, however well the others are. */
const ASK_THE_NEXT: readonly string[] = [
  'EtcdUnreachable',
  'EtcdLearner',
  'EtcdStopped',
] satisfies readonly EtcdFailure[];

/** The first member that answers. What a voter refuses is not asked of the next. */
export const withAny = async <T>(
  access: EtcdAccess,
  run: (connection: EtcdConnection) => Promise<T>,
): Promise<T> => {
  let last: unknown;
  for (const url of access.endpoints) {
    try {
      return await withMember(url, access, run);
    } catch (error) {
      if (!(error instanceof ReasonError)) throw error;
      if (!ASK_THE_NEXT.includes(error.reason)) throw error;
      last = error;
    }
  }
  throw new SaidError('EtcdUnreachable', say('failure.etcd.none', { why: saidOf(last) }), { cause: last });
};

const hex = (id: bigint): string => id.toString(16);

const statusOf = async (access: EtcdAccess, url: string | undefined) => {
  if (url === undefined) return { status: undefined, problem: say('failure.etcd.notStarted'), leader: 0n };
  try {
    return await withMember(url, access, async (member) => {
      const answer = await member.call(OPERATOR.status, {});
      const { version, dbSize, dbSizeInUse, raftTerm, raftIndex, raftAppliedIndex, errors } = answer;
      return {
        leader: answer.leader,
        problem: undefined,
        status: {
          version,
          dbBytes: dbSize,
          dbBytesInUse: dbSizeInUse,
          raftTerm,
          raftIndex,
          raftAppliedIndex,
          revision: answer.header?.revision ?? 0,
          errors,
        },
      };
    });
  } catch (error) {
    return { status: undefined, problem: saidOf(error), leader: 0n };
  }
};

/** Every member, and how those are that answer. */
export const listMembers = async (access: EtcdAccess): Promise<readonly MemberView[]> => {
  const { members } = await withAny(access, (member) =>
    member.call(OPERATOR.memberList, { linearizable: false }),
  );
  const statuses = await Promise.all(members.map(({ clientURLs }) => statusOf(access, clientURLs[0])));
  const leader = statuses.find((one) => one.leader !== 0n)?.leader ?? 0n;
  return members.map(({ ID, name, peerURLs, clientURLs, isLearner }, index) => ({
    id: hex(ID),
    name,
    peerUrls: peerURLs,
    clientUrls: clientURLs,
    isLearner,
    isLeader: ID === leader,
    status: statuses[index]!.status,
    problem: statuses[index]!.problem,
  }));
};

/** A member by its name or its id. */
export const findMember = async (access: EtcdAccess, nameOrId: string): Promise<MemberView> => {
  const members = await listMembers(access);
  const found = members.find(({ name, id }) => name === nameOrId || id === nameOrId);
  if (found) return found;
  const names = members.map(({ name, id }) => name || id).join(', ');
  throw new SaidError('NotFound', say('failure.etcd.noMember', { member: nameOrId, known: names }));
};

/** What a person calls a member; one that has not started yet has no name. */
export const labelOf = ({ name, id }: MemberView): string => name || id;

const idOf = ({ id }: MemberView): bigint => BigInt(`0x${id}`);

/** Resolves when the target leads. */
export const moveLeader = async (access: EtcdAccess, nameOrId: string): Promise<MemberView> => {
  const target = await findMember(access, nameOrId);
  if (target.isLeader) return target;
  const leader = (await listMembers(access)).find(({ isLeader }) => isLeader);
  if (!leader) throw new SaidError('NoLeader', say('failure.etcd.noLeader'));
  await withMember(leader.clientUrls[0]!, access, (member) =>
    member.call(OPERATOR.moveLeader, { targetID: idOf(target) }),
  );
  return { ...target, isLeader: true };
};

export const addMember = async (
  access: EtcdAccess,
  { peerUrls, isLearner }: { readonly peerUrls: readonly string[]; readonly isLearner: boolean },
): Promise<string> => {
  const request = { peerURLs: [...peerUrls], isLearner };
  const { member } = await withAny(access, (one) => one.call(OPERATOR.memberAdd, request));
  return hex(member?.ID ?? 0n);
};

/** Refused by etcd while the learner has not caught up. */
export const promoteMember = async (access: EtcdAccess, id: string): Promise<void> => {
  await withAny(access, (member) => member.call(OPERATOR.memberPromote, { ID: BigInt(`0x${id}`) }));
};

/** Asked of the others: who is removed may be gone before it has answered. */
export const removeMember = async (access: EtcdAccess, nameOrId: string): Promise<MemberView> => {
  const target = await findMember(access, nameOrId);
  const others = access.endpoints.filter((url) => !target.clientUrls.includes(url));
  await withAny({ ...access, endpoints: others.length > 0 ? others : access.endpoints }, (member) =>
    member.call(OPERATOR.memberRemove, { ID: idOf(target) }),
  );
  return target;
};

/**
 * One member, or all with the leader last: a member does not respond meanwhile. Refused while one of them does not
 * respond: it would lose a second member.
 */
export const defragmentOrder = async (
  access: EtcdAccess,
  nameOrId: string | null,
): Promise<readonly MemberView[]> => {
  const members = nameOrId === null ? await listMembers(access) : [await findMember(access, nameOrId)];
  const silent = members.find(({ status }) => !status);
  if (silent)
    throw new SaidError(
      'EtcdUnreachable',
      together([
        say('failure.etcd.unreachable', { member: labelOf(silent), why: silent.problem ?? '' }),
        say('advice.recoverMember'),
      ]),
    );
  return [...members].sort((a, b) => Number(a.isLeader) - Number(b.isLeader));
};

/** Resolves with the member as it is after it. */
export const defragmentMember = async (
  access: EtcdAccess,
  { clientUrls, id }: MemberView,
): Promise<MemberView> => {
  await withMember(clientUrls[0]!, access, (member) => member.call(OPERATOR.defragment, {}));
  return findMember(access, id);
};

/** Forgets what was before a revision: the present one without it. Returns the revision. */
export const compact = async (access: EtcdAccess, revision: number | undefined): Promise<number> => {
  const members = await listMembers(access);
  const newest = Math.max(0, ...members.map(({ status }) => status?.revision ?? 0));
  const at = revision ?? newest;
  await withAny(access, (member) => member.call(OPERATOR.compact, { revision: at, physical: true }));
  return at;
};

export interface SavedSnapshot extends SnapshotStatus {
  readonly file: string;
  readonly sha256: string;
}

/**
 * Streams a snapshot of one member into a file and checks it, page by page. The file appears when it is whole; one that
 * is there is never replaced.
 */
export const saveSnapshot = async (
  access: EtcdAccess,
  file: string,
  onBytes: (bytes: number) => void = () => undefined,
): Promise<SavedSnapshot> => {
  const draft = `${file}.part`;
  let digest = createHash('sha256');
  await rm(draft, { force: true });
  try {
    const handle = await open(draft, 'wx', 0o600);
    try {
      await withAny(access, async (member) => {
        await handle.truncate(0);
        digest = createHash('sha256');
        let position = 0;
        for await (const { blob } of member.stream(OPERATOR.snapshot, {})) {
          await handle.write(blob, 0, blob.length, position);
          position += blob.length;
          digest.update(blob);
          onBytes(position);
        }
      });
      await handle.sync();
    } finally {
      await handle.close();
    }
    const status = await verifySnapshot(draft, { skipHashCheck: false });
    await rename(draft, file);
    return { ...status, file, sha256: digest.digest('hex') };
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
};
