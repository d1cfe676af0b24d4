import { hasReason } from '../../../base/errors.ts';
import { NOBODY } from '../../../raft/types.ts';
import { leaseNotFound } from '../../lease/index.ts';
import * as proto from '../../proto/index.ts';
import { etcdError } from '../../refusals/errors.ts';
import type { MemberApi } from '../../rpc/member-api.ts';
import type { Member } from '../member.ts';
import {
  decodeLeaseId,
  decodeLeaseTime,
  encodeLeaseId,
  encodeLeaseTime,
  PEER_LEASE_RENEW,
  PEER_LEASE_TTL,
  type LeaseTime,
} from '../peer-requests.ts';

type LeaseApi = Pick<
  MemberApi,
  'leaseGrant' | 'leaseRevoke' | 'leaseRenew' | 'leaseTimeToLive' | 'leaseLeases'
>;

const LEASE_ID_BOUND = 2 ** 31;
const MS_PER_SECOND = 1000;
/** Asked again this often while there is no leader, within the limit of a request. */
const RETRY_MS = 100;

/** Only the leader counts the time of leases: the others ask it. */
export const leaseApi = (member: Member): LeaseApi => {
  const { machine, proposals, ports, transport, auth } = member;
  const { lessor } = machine;

  const timeHere = (id: bigint): LeaseTime => {
    const lease = lessor.lookup(id);
    if (lease === undefined) return { ttlSeconds: -1, grantedTtlSeconds: 0 };
    return {
      ttlSeconds: Math.max(0, Math.floor(lease.remainingMs / MS_PER_SECOND)),
      grantedTtlSeconds: lease.grantedTtlSeconds,
    };
  };

  /**
   * A quorum confirms that this member leads, and all that its predecessors committed is applied: else a lease
   * could be renewed that another leader is about to end, or be missed that is not here yet.
   */
  const renewHere = async (id: bigint): Promise<number> => {
    if (!lessor.isPrimary) throw etcdError('NotLeader');
    await member.reads.pass();
    return lessor.renew(id);
  };

  /** `lease-renew` answers -1 for a lease that is gone, which is no failure of the way there. */
  transport.handle(PEER_LEASE_RENEW, async (payload) => {
    try {
      const ttlSeconds = await renewHere(decodeLeaseId(payload));
      return encodeLeaseTime({ ttlSeconds, grantedTtlSeconds: ttlSeconds });
    } catch (error) {
      if (hasReason(error, 'LeaseNotFound')) return encodeLeaseTime({ ttlSeconds: -1, grantedTtlSeconds: 0 });
      throw error;
    }
  });
  transport.handle(PEER_LEASE_TTL, (payload) => {
    if (!lessor.isPrimary) return Promise.reject(etcdError('NotLeader'));
    return Promise.resolve(encodeLeaseTime(timeHere(decodeLeaseId(payload))));
  });

  /** Asks anyone who leads, again after a change of leader, until the limit of a request is over. */
  const askLeader = async <T>(here: () => Promise<T>, there: (leader: number) => Promise<T>): Promise<T> => {
    const deadlineMs = ports.clock.monotonicMs() + member.requestLimitMs;
    for (;;) {
      try {
        if (lessor.isPrimary) return await here();
        const { leader } = member.leadership;
        if (leader !== NOBODY && leader !== member.id) return await there(leader);
      } catch (error) {
        if (hasReason(error, 'LeaseNotFound')) throw error;
      }
      if (ports.clock.monotonicMs() >= deadlineMs) throw etcdError(member.hasLeader ? 'Timeout' : 'NoLeader');
      await new Promise<void>((resolve) => void ports.clock.after(RETRY_MS, resolve));
    }
  };

  const newLeaseId = (): bigint => {
    const high = BigInt(ports.random.below(LEASE_ID_BOUND));
    const low = BigInt(ports.random.below(2 * LEASE_ID_BOUND));
    return (high << 32n) | low || 1n;
  };

  return {
    async leaseGrant(request, context) {
      if (auth.isEnabled) (await auth.access(context))?.known();
      const ID = request.ID === 0n ? newLeaseId() : request.ID;
      const payload = proto.LeaseGrantRequest.encode({ ID, TTL: request.TTL });
      return (await proposals.propose('leaseGrant', payload)) as proto.LeaseGrantResponseIn & {
        header: { revision: number };
      };
    },
    async leaseRevoke(request, context) {
      const identity = auth.isEnabled ? await auth.identify(context) : undefined;
      if (auth.isEnabled) auth.accessOf(identity)?.known();
      const payload = proto.LeaseRevokeRequest.encode(request);
      return (await proposals.propose('leaseRevoke', payload, identity)) as {
        header: { revision: number };
      };
    },
    leaseRenew: async (id, context) => {
      if (auth.isEnabled) {
        const access = await auth.access(context);
        access?.known();
        access?.leaseWrites(id);
      }
      return askLeader(
        () => renewHere(id),
        async (leader) => {
          const answer = await transport.request(leader, PEER_LEASE_RENEW, encodeLeaseId(id), {
            timeoutMs: member.requestLimitMs,
          });
          const { ttlSeconds } = decodeLeaseTime(answer);
          if (ttlSeconds < 0) throw leaseNotFound();
          return ttlSeconds;
        },
      );
    },
    async leaseTimeToLive({ ID, keys }, context) {
      const access = auth.isEnabled ? await auth.access(context) : undefined;
      access?.known();
      // The leader may not have heard of a lease that this member has: all is applied here before it is asked.
      await member.reads.pass();
      const time = await askLeader(
        () => Promise.resolve(timeHere(ID)),
        async (leader) =>
          decodeLeaseTime(
            await transport.request(leader, PEER_LEASE_TTL, encodeLeaseId(ID), {
              timeoutMs: member.requestLimitMs,
            }),
          ),
      );
      // In the turn that reads them: the keys may be others than before the leader was asked.
      if (keys) access?.leaseReads(ID);
      return {
        ID,
        TTL: time.ttlSeconds,
        grantedTTL: time.grantedTtlSeconds,
        ...(keys && { keys: lessor.lookup(ID)?.keys() ?? [] }),
      };
    },
    async leaseLeases(context) {
      const access = auth.isEnabled ? await auth.access(context) : undefined;
      access?.known();
      const ids = lessor.list();
      for (const id of ids) access?.leaseReads(id);
      return { leases: ids.map((ID) => ({ ID })) };
    },
  };
};
