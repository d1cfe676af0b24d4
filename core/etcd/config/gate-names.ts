/** etcd 3.6's gates with its defaults and stages. */
export const FEATURE_GATES = {
  StopGRPCServiceOnDefrag: { default: false, stage: 'ALPHA' },
  InitialCorruptCheck: { default: false, stage: 'ALPHA' },
  CompactHashCheck: { default: false, stage: 'ALPHA' },
  TxnModeWriteWithSharedBuffer: { default: true, stage: 'BETA' },
  LeaseCheckpoint: { default: false, stage: 'ALPHA' },
  LeaseCheckpointPersist: { default: false, stage: 'ALPHA' },
  SetMemberLocalAddr: { default: false, stage: 'ALPHA' },
} as const;

export type FeatureGate = keyof typeof FEATURE_GATES;
export type FeatureGates = Readonly<Record<FeatureGate, boolean>>;
