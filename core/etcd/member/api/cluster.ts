import { NOBODY } from '../../../raft/types.ts';
import {
  checkMemberUrls,
  learnerReady,
  mayAdd,
  mayPromote,
  mayRemove,
  memberIdFromUint64,
  memberIdOf,
  MembershipError,
  toConfigChange,
  type ClusterView,
  type Member as ClusterMember,
  type MembershipChange,
} from '../../membership/index.ts';
import type * as proto from '../../proto/index.ts';
import { etcdError } from '../../refusals/errors.ts';
import type { MemberApi } from '../../rpc/member-api.ts';
import { withProposer } from '../change-proposer.ts';
import type { Member } from '../member.ts';
import {
  decodeMemberId,
  encodeClusterInfo,
  encodeMemberId,
  PEER_CLUSTER_INFO,
  PEER_PROMOTE,
} from '../peer-requests.ts';

type ClusterApi = Pick<
  MemberApi,
  'memberAdd' | 'memberRemove' | 'memberUpdate' | 'memberPromote' | 'memberList'
>;

const MS_PER_SECOND = 1000;

const asMessage = ({ id, name, peerURLs, clientURLs, isLearner }: ClusterMember): proto.MemberIn => ({
  ID: BigInt(id),
  name,
  peerURLs: [...peerURLs],
  clientURLs: [...clientURLs],
  isLearner,
});

const validUrls = (urls: readonly string[]): string[] => {
  try {
    return checkMemberUrls(urls);
  } catch (cause) {
    throw etcdError('MemberBadURLs', { cause });
  }
};

/** Changes of the membership: checked here against what this member sees, decided by the log. */
export const clusterApi = (member: Member): ClusterApi => {
  const { machine, proposals, ports, transport, config } = member;
  const { membership } = machine;

  const view = (): ClusterView => ({
    members: membership.members,
    localId: member.id,
    nowMs: ports.clock.monotonicMs(),
    activeSinceMs: (id) => transport.status(id)?.activeSinceMs,
  });

  const refuse = (error: MembershipError | undefined): void => {
    if (error !== undefined) throw error;
  };

  const change = async (wanted: MembershipChange): Promise<void> => {
    refuse(membership.validate(wanted));
    await proposals.proposeConfiguration((proposer) => {
      const configChange = toConfigChange(wanted, membership.members);
      return { ...configChange, context: withProposer(configChange.context, proposer) };
    });
  };

  const members = (): proto.MemberIn[] => membership.members.map(asMessage);

  const promoteHere = async (id: number): Promise<void> => {
    const { peers, lastIndex } = member.status;
    const learnerMatch = peers.find((peer) => peer.id === id)?.match;
    refuse(membership.validate({ kind: 'promote', id }));
    refuse(learnerReady({ learnerMatch, leaderMatch: lastIndex }));
    if (config.strictReconfigCheck) refuse(mayPromote(view()));
    await change({ kind: 'promote', id });
  };

  transport.handle(
    PEER_CLUSTER_INFO,
    () => Promise.resolve(encodeClusterInfo({ clusterId: member.clusterId, members: membership.members })),
    { anonymous: true },
  );
  transport.handle(PEER_PROMOTE, async (payload) => {
    if (!member.isLeader) throw etcdError('NotLeader');
    try {
      await promoteHere(decodeMemberId(payload));
      return Buffer.from('');
    } catch (error) {
      if (error instanceof MembershipError) return Buffer.from(error.reason);
      throw error;
    }
  });

  return {
    async memberAdd(request) {
      const peerURLs = validUrls(request.peerURLs);
      const { isLearner } = request;
      const added: ClusterMember = {
        id: memberIdOf(peerURLs, config.initialClusterToken, ports.clock.nowMs() / MS_PER_SECOND),
        name: '',
        peerURLs,
        clientURLs: [],
        isLearner,
      };
      if (config.strictReconfigCheck) refuse(mayAdd(view(), { isLearner }));
      await change({ kind: 'add', member: added });
      return { member: asMessage(added), members: members() };
    },
    async memberRemove(uint64) {
      const id = memberIdFromUint64(uint64);
      refuse(membership.validate({ kind: 'remove', id }));
      if (config.strictReconfigCheck) refuse(mayRemove(view(), id));
      await change({ kind: 'remove', id });
      return members();
    },
    async memberUpdate(request) {
      const id = memberIdFromUint64(request.ID);
      // As with etcd, whether there is such a member is asked first.
      refuse(membership.validate({ kind: 'update', id, peerURLs: request.peerURLs }));
      await change({ kind: 'update', id, peerURLs: validUrls(request.peerURLs) });
      return members();
    },
    async memberPromote(uint64) {
      const id = memberIdFromUint64(uint64);
      if (member.isLeader) {
        await promoteHere(id);
        return members();
      }
      // Only the leader knows how far a learner has come.
      const { leader } = member.leadership;
      if (leader === NOBODY) throw etcdError('NoLeader');
      const answer = await transport.request(leader, PEER_PROMOTE, encodeMemberId(id), {
        timeoutMs: member.requestLimitMs,
      });
      const reason = Buffer.from(answer).toString();
      if (reason !== '') throw new MembershipError(reason as MembershipError['reason'], reason);
      await member.reads.pass();
      return members();
    },
    async memberList(request) {
      if (request.linearizable) await member.reads.pass();
      return members();
    },
  };
};
