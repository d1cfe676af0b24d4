import type { MemberApi } from '../../rpc/member-api.ts';
import type { Member } from '../member.ts';
import { authApi } from './auth.ts';
import { clusterApi } from './cluster.ts';
import { kvApi } from './kv.ts';
import { leaseApi } from './lease.ts';
import { maintenanceApi } from './maintenance.ts';

/** What the RPC services see of a member. Also registers what its peers may ask it. */
export const memberApi = (member: Member): MemberApi => ({
  clusterId: member.clusterId,
  memberId: BigInt(member.id),
  term: () => member.raft.term,
  revision: () => member.machine.store.revision,
  leaderId: () => BigInt(member.leadership.leader),
  isLearner: () => member.isLearner,
  watches: member.machine.watchHub,
  auth: authApi(member),
  permit(context, need) {
    if (!member.auth.isEnabled) return undefined;
    return member.auth.access(context).then((access) => access?.[need]());
  },
  permitRead(context, { key, rangeEnd }) {
    if (!member.auth.isEnabled) return undefined;
    return member.auth.access(context).then((access) => access?.read(key, rangeEnd));
  },
  isCommonNameUsed: () => member.auth.isEnabled && member.config.commonNameAuth,
  ...kvApi(member),
  ...leaseApi(member),
  ...clusterApi(member),
  ...maintenanceApi(member),
});
