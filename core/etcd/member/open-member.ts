import { assert } from '../../base/assert.ts';
import type { MemberConfig } from '../config/config.ts';
import { minLeaseTtlSeconds } from '../lease/index.ts';
import * as proto from '../proto/index.ts';
import { bootMember } from './boot.ts';
import { Member, type MemberFailure } from './member.ts';
import { silentObserver, type MemberObserver } from './observer.ts';
import type { MemberPorts } from './ports.ts';
import { StateMachine } from './state-machine.ts';

/** Opens a member from its disk, or makes it on its first start. It takes part after `start`. */
export const openMember = async (
  config: MemberConfig,
  ports: MemberPorts,
  options: { readonly observer?: MemberObserver; readonly onFailed: MemberFailure },
): Promise<Member> => {
  const observer = options.observer ?? silentObserver;
  const boot = await bootMember(config, ports, {
    onSync: (seconds) => observer.walSynced(seconds),
    onWrite: (bytes) => observer.walWritten(bytes),
  });
  const holder: { member: Member | undefined } = { member: undefined };
  const machine = await StateMachine.open({
    backend: boot.backend,
    clock: ports.clock,
    log: ports.log,
    quotaBytes: config.quotaBytes,
    minLeaseTtlSeconds: minLeaseTtlSeconds(config.electionTimeoutMs),
    tokenTtlMs: config.authTokenTtlMs,
    leaseMetrics: observer.leases,
    pause: () => new Promise((resolve) => ports.defer(resolve)),
    ...(config.leaseCheckpoint && {
      proposeCheckpoint: async ({ id, remainingTtlSeconds }) => {
        assert(holder.member !== undefined, 'leases are renewed by an open member');
        const checkpoints = [{ ID: id, remainingTTL: remainingTtlSeconds }];
        await holder.member.proposals.propose(
          'leaseCheckpoint',
          proto.LeaseCheckpointRequest.encode({ checkpoints }),
        );
      },
    }),
  });
  const transport = ports.transport({ memberId: boot.memberId, clusterId: boot.clusterId });
  holder.member = new Member(config, ports, boot, machine, transport, {
    observer,
    onFailed: options.onFailed,
  });
  return holder.member;
};
