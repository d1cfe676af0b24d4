import type { Clock } from '../../base/clock.ts';
import type { Disk } from '../../base/disk.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Backend } from '../mvcc/backend/backend.ts';
import type { PeerProbe, PeerTransport } from '../peer/index.ts';
import type { WalOptions } from '../wal/index.ts';
import type { Jwt } from '../auth/index.ts';
import type { ClusterId } from '../membership/index.ts';
import type { MemberId } from '../../raft/types.ts';

/** An empty backend beside the one in use, filled with a state that comes from the leader. */
export interface StagedBackend {
  readonly backend: Backend;
  /** From now on, also after a crash, this is the state of the member. */
  promote(): Promise<void>;
  /** After the promotion and once the previous backend is closed: nothing is left of it. */
  retireFormer(): Promise<void>;
  /** Instead of a promotion. */
  discard(): Promise<void>;
}

/** Where a member keeps its state. */
export interface BackendHouse {
  /** Opens what is there, or makes an empty one; removes what a crash left of a state that was not promoted. */
  open(): Promise<Backend>;
  stage(): Promise<StagedBackend>;
}

export interface MemberIdentity {
  readonly memberId: MemberId;
  readonly clusterId: ClusterId;
}

/** Everything outside of a member, so that a simulation can be all of it. */
export interface MemberPorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly disk: Disk;
  readonly backends: BackendHouse;
  readonly transport: (identity: MemberIdentity) => PeerTransport;
  readonly probe: PeerProbe;
  /** `--auth-token=jwt`: signed tokens instead of simple ones. */
  readonly jwt?: Jwt | undefined;
  /** Other than the log's own: small ones, so that a simulation sees segments begin and end. */
  readonly walSizes?: Pick<WalOptions, 'segmentBytes' | 'growthBytes'>;
  /** Runs later, after what is ready to be read has been read. */
  readonly defer: (run: () => void) => void;
}
