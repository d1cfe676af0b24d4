import { FSYNC_RECOMMENDED_MS, type EtcdMember } from '../../../core/contract/index.ts';

export type MemberFinding =
  'unreachable' | 'noSpace' | 'corrupt' | 'alarm' | 'full' | 'slowDisk' | 'behind' | 'learner' | 'healthy';

/** So many entries behind, a member is not merely busy. */
export const LAG_BEHIND_ENTRIES = 100;
/** Past this share of its quota a member is close to the NOSPACE alarm, which ends all writes. */
export const QUOTA_FULL_SHARE = 0.8;

export const quotaShare = ({ dbBytes, quotaBytes }: Pick<EtcdMember, 'dbBytes' | 'quotaBytes'>): number =>
  quotaBytes === null || quotaBytes <= 0 ? 0 : dbBytes / quotaBytes;

/** The worst that is known about a member: one word for its row. */
export const memberFinding = (member: EtcdMember): MemberFinding => {
  if (member.role === 'unreachable') return 'unreachable';
  if (member.alarms.some((alarm) => alarm.includes('CORRUPT'))) return 'corrupt';
  if (member.alarms.some((alarm) => alarm.includes('NOSPACE'))) return 'noSpace';
  if (member.alarms.length > 0) return 'alarm';
  if (quotaShare(member) > QUOTA_FULL_SHARE) return 'full';
  if ((member.fsyncP99Ms ?? 0) > FSYNC_RECOMMENDED_MS) return 'slowDisk';
  if (member.lag > LAG_BEHIND_ENTRIES) return 'behind';
  return member.role === 'learner' ? 'learner' : 'healthy';
};

const TONES: Readonly<Record<MemberFinding, 'ok' | 'idle' | 'warn' | 'error'>> = {
  healthy: 'ok',
  learner: 'idle',
  full: 'warn',
  slowDisk: 'warn',
  behind: 'warn',
  unreachable: 'error',
  noSpace: 'error',
  corrupt: 'error',
  alarm: 'error',
};
export const findingTone = (finding: MemberFinding): 'ok' | 'idle' | 'warn' | 'error' => TONES[finding];

/** Bytes that a defragmentation gives back to the disk. */
export const freeBytes = ({ dbBytes, dbBytesInUse }: Pick<EtcdMember, 'dbBytes' | 'dbBytesInUse'>): number =>
  Math.max(0, dbBytes - dbBytesInUse);
