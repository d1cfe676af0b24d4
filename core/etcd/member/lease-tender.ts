import {
  LEASE_CHECKPOINTS_PER_ENTRY_MAX,
  LEASE_TICK_MS,
  LEASES_REVOKED_PER_TICK_MAX,
} from '../lease/index.ts';
import * as proto from '../proto/index.ts';
import type { Member } from './member.ts';
import type { RequestKind } from './request-entry.ts';

/** Sees to the leases when a leader is awake anyway: no timer of its own, and none at all on its followers. */
export class LeaseTender {
  readonly #member: Member;
  #dueMs = 0;
  #isTending = false;

  constructor(member: Member) {
    this.#member = member;
  }

  /** Never twice at the same time; what failed is tried again the next time. */
  tick(nowMs: number): void {
    if (!this.#member.isLeader || this.#isTending || nowMs < this.#dueMs) return;
    this.#isTending = true;
    const done = (): void => {
      this.#isTending = false;
      this.#dueMs = this.#member.ports.clock.monotonicMs() + LEASE_TICK_MS;
    };
    tendLeases(this.#member).then(done, done);
  }
}

/** What a leader owes its leases, from time to time: the end of those that are due, and what is left of others. */
const tendLeases = async (member: Member): Promise<void> => {
  const { term } = member.leadership;
  const { lessor } = member.machine;
  const expired = lessor.takeExpired(LEASES_REVOKED_PER_TICK_MAX);
  const due = lessor.takeDueCheckpoints(LEASE_CHECKPOINTS_PER_ENTRY_MAX);
  if (expired.length === 0 && due.length === 0) return;
  // A process that was stopped may take itself for the leader while another keeps these leases alive
  // (etcd-io/etcd#15247): a quorum is asked first, and what is proposed dies with the term.
  await member.reads.pass();
  const ask = (kind: RequestKind, payload: Uint8Array): Promise<unknown> =>
    member.proposals.proposeAsLeader(term, kind, payload, member.asRoot());
  const asked = expired.map((ID) => ask('leaseRevoke', proto.LeaseRevokeRequest.encode({ ID })));
  if (due.length > 0) {
    const checkpoints = due.map(({ id, remainingTtlSeconds }) => ({
      ID: id,
      remainingTTL: remainingTtlSeconds,
    }));
    asked.push(ask('leaseCheckpoint', proto.LeaseCheckpointRequest.encode({ checkpoints })));
  }
  // What is lost with a leader is due again at the next one.
  await Promise.allSettled(asked);
};
