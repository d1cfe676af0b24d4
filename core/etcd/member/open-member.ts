import { assert } from '../../base/assert.ts';
import type { MemberConfig } from '../config/config.ts';
import { minLeaseTtlSeconds } from '../lease/index.ts';
import * as proto from '../proto/index.ts';
import { bootMember, type BootState } from './boot.ts';
import { Member, type MemberFailure } from './member.ts';
import { silentObserver, type MemberObserver } from './observer.ts';
import type { MemberPorts } from './ports.ts';
import { StateMachine } from './state-machine.ts';

/** As etcd's write-ahead log: a sync that took longer is worth a line. */
const SLOW_SYNC_SECONDS = 1;

/** `--bootstrap-defrag-threshold-megabytes` */
const defragmentAtStart = async (
  { bootstrapDefragBytes }: MemberConfig,
  { log }: MemberPorts,
  { backend }: BootState,
): Promise<void> => {
  const { totalBytes, inUseBytes } = backend.size();
  const freeBytes = totalBytes - inUseBytes;
  if (bootstrapDefragBytes === 0 || freeBytes < bootstrapDefragBytes) return;
  await backend.defragment();
  log.write('info', 'finished defragmenting at the start', {
    'current-db-size-bytes-diff': backend.size().totalBytes - totalBytes,
    'current-db-size-bytes': backend.size().totalBytes,
  });
};

/** Opens a member from its disk, or makes it on its first start. It takes part after `start`. */
export const openMember = async (
  config: MemberConfig,
  ports: MemberPorts,
  options: { readonly observer?: MemberObserver; readonly onFailed: MemberFailure },
): Promise<Member> => {
  const observer = options.observer ?? silentObserver;
  const boot = await bootMember(config, ports, {
    onSync(seconds) {
      observer.walSynced(seconds);
      if (seconds > SLOW_SYNC_SECONDS)
        ports.log.write('warn', 'slow fdatasync', {
          took: `${seconds.toFixed(3)}s`,
          'expected-duration': `${SLOW_SYNC_SECONDS}s`,
        });
    },
    onWrite: (bytes) => observer.walWritten(bytes),
  });
  await defragmentAtStart(config, ports, boot);
  const holder: { member: Member | undefined } = { member: undefined };
  const machine = await StateMachine.open({
    backend: boot.backend,
    clock: ports.clock,
    log: ports.log,
    quotaBytes: config.quotaBytes,
    minLeaseTtlSeconds: minLeaseTtlSeconds(config.electionTimeoutMs),
    learnersMax: config.learnersMax,
    compaction: config.compaction,
    compactionObserver: observer.compactions,
    tokenTtlMs: config.authTokenTtlMs,
    leaseMetrics: observer.leases,
    pause: () => new Promise((resolve) => ports.defer(resolve)),
    ...(config.gates.LeaseCheckpoint && {
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
