import * as proto from '../../../core/etcd/proto/index.ts';
import type { MemberApi } from '../../../core/etcd/rpc/member-api.ts';
import type { Mutant } from './mutant.ts';

const EXPIRY_LOOK_MS = 100;
const SECOND_MS = 1000;
/** Numbers drawn below this or more are there to be unique. */
const NONCE_BOUND_MIN = 2 ** 20;

/** Answers from the local state without asking whether it is the newest. */
export const uncheckedRead: Mutant = {
  name: 'a read does not ask a quorum',
  foundBy: ['real-time order', 'linearizability'],
  api: (api) => ({
    ...api,
    range: (request, context) => api.range({ ...request, serializable: true }, context),
  }),
};

/** A watch that begins in the past loses the first thing that it should have caught up with. */
export const lossyResume: Mutant = {
  name: 'a watch that catches up loses an event',
  foundBy: ['watch'],
  api: (api): MemberApi => ({
    ...api,
    watches: {
      progress: (watchers) => api.watches.progress(watchers),
      resume: () => api.watches.resume(),
      watch(request) {
        let isCaughtUp = request.startRevision === 0 || request.startRevision > api.revision();
        return api.watches.watch({
          ...request,
          sink: {
            deliver(batch) {
              if (isCaughtUp || batch.compactRevision > 0 || batch.events.length < 2)
                return request.sink.deliver(batch);
              const isTaken = request.sink.deliver({ ...batch, events: batch.events.slice(1) });
              isCaughtUp = isTaken;
              return isTaken;
            },
          },
        });
      },
    },
  }),
};

/** Counts the time of leases although another leads, and so knows nothing of renewals. */
export const followerExpiry: Mutant = {
  name: 'a follower ends leases',
  foundBy: ['lease'],
  started(member) {
    const { clock } = member.ports;
    const { lessor } = member.machine;
    const seenMs = new Map<bigint, number>();
    const look = (): void => {
      clock.after(EXPIRY_LOOK_MS, look);
      for (const id of member.isLeader ? [] : lessor.list()) {
        const nowMs = clock.monotonicMs();
        const sinceMs = seenMs.get(id) ?? nowMs;
        seenMs.set(id, sinceMs);
        if (nowMs - sinceMs < (lessor.lookup(id)?.grantedTtlSeconds ?? 0) * SECOND_MS) continue;
        seenMs.set(id, nowMs);
        const revoke = proto.LeaseRevokeRequest.encode({ ID: id });
        member.proposals.propose('leaseRevoke', revoke).catch(() => undefined);
      }
    };
    look();
  },
};

/** The network hands a forwarded proposal over twice; nothing after it can tell. */
export const doubledProposal: Mutant = {
  name: 'a forwarded proposal arrives twice',
  foundBy: ['applied once', 'linearizability'],
  doublesProposals: true,
};

/** Requests and reads are numbered from the same place after every start. */
export const sameNumbers: Mutant = {
  name: 'a restarted member uses the numbers of its former life',
  foundBy: ['acknowledged write lost', 'linearizability', 'real-time order'],
  random: (random) => ({
    next: () => random.next(),
    below: (bound) => (bound >= NONCE_BOUND_MIN ? 0 : random.below(bound)),
  }),
};
