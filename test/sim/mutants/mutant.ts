import type { Clock } from '../../../core/base/clock.ts';
import type { Disk } from '../../../core/base/disk.ts';
import type { Random } from '../../../core/base/random.ts';
import type { Member } from '../../../core/etcd/member/member.ts';
import type { BackendHouse } from '../../../core/etcd/member/ports.ts';
import type { MemberApi } from '../../../core/etcd/rpc/member-api.ts';
import type { SimDisk } from '../../support/sim-disk.ts';

/** A known bug, put back into the members by way of their ports. */
export interface Mutant {
  readonly name: string;
  /** The checks that may find it: being found by another is a fault of the mutant. */
  readonly foundBy: readonly string[];
  /** See `SimNetwork`: messages that must not be doubled are. */
  readonly doublesProposals?: boolean;
  random?(random: Random): Random;
  disk?(disk: Disk): Disk;
  backends?(house: BackendHouse, clock: Clock): BackendHouse;
  /** Between two lives of a member, with all of its disk at hand. */
  beforeStart?(disk: SimDisk, walDirectory: string): Promise<void>;
  api?(api: MemberApi, member: Member): MemberApi;
  started?(member: Member): void;
}
