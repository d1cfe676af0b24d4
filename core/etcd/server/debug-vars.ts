import type { MemberId } from '../../raft/types.ts';
import type { PeerStatus, RaftStatus } from '../../raft/status.ts';
import type { Member } from '../member/member.ts';
import type { PlainHandler } from '../rpc/index.ts';
import { fileDescriptorLimit } from './state-metrics.ts';

const ROLES: Readonly<Record<RaftStatus['role'], string>> = {
  follower: 'StateFollower',
  precandidate: 'StatePreCandidate',
  candidate: 'StateCandidate',
  leader: 'StateLeader',
};
const PROGRESS: Readonly<Record<PeerStatus['state'], string>> = {
  probe: 'StateProbe',
  replicate: 'StateReplicate',
  snapshot: 'StateSnapshot',
};

const hex = (id: MemberId): string => id.toString(16);

const raftStatus = (status: RaftStatus): object => ({
  id: hex(status.id),
  term: status.term,
  vote: hex(status.vote),
  commit: status.commit,
  lead: hex(status.leader),
  raftState: ROLES[status.role],
  applied: status.applied,
  progress: Object.fromEntries(
    status.peers.map(({ id, match, next, state }) => [hex(id), { match, next, state: PROGRESS[state] }]),
  ),
  leadtransferee: hex(status.transferee),
});

/** Of Go's memstats those that have a counterpart here. */
const memoryStatistics = (): object => {
  const { rss, heapTotal, heapUsed, external } = process.memoryUsage();
  return {
    Alloc: heapUsed,
    Sys: rss,
    HeapAlloc: heapUsed,
    HeapSys: heapTotal,
    HeapIdle: heapTotal - heapUsed,
    HeapInuse: heapUsed,
    OtherSys: external,
  };
};

/** `/debug/vars` as etcd has it, on the client ports only: it tells the command line. */
export const withDebugVars =
  (member: Member, next: PlainHandler): PlainHandler =>
  (request) => {
    if (request.path !== '/debug/vars') return next(request);
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return { status: 405, headers: { allow: 'GET' }, body: 'Method Not Allowed\n' };
    const variables = {
      cmdline: process.argv,
      file_descriptor_limit: fileDescriptorLimit(),
      memstats: memoryStatistics(),
      'raft.status': raftStatus(member.status),
    };
    const lines = Object.entries(variables).map(([name, value]) => `"${name}": ${JSON.stringify(value)}`);
    return {
      status: 200,
      contentType: 'application/json; charset=utf-8',
      body: `{\n${lines.join(',\n')}\n}\n`,
    };
  };
