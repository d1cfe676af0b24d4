import type { EtcdMember } from '../../../core/contract/index.ts';

/** A healthy follower, for tests. */
export const memberFixture = (name: string, more: Partial<EtcdMember> = {}): EtcdMember => ({
  id: `8e9e05c5216${name}`,
  name,
  host: name,
  clientUrl: `https://127.21.0.${name.slice(-1)}:2379`,
  role: 'follower',
  version: '3.6.4',
  raftTerm: 14,
  raftIndex: 1_284_907,
  raftAppliedIndex: 1_284_907,
  lag: 0,
  revision: 918_442,
  dbBytes: 54_945_382,
  dbBytesInUse: 42_047_897,
  quotaBytes: 2 * 1024 ** 3,
  alarms: [],
  fsyncP99Ms: 2.1,
  peerRoundTripMs: 0.8,
  proposalsFailed: 0,
  problem: null,
  ...more,
});
