import type { FlagValues } from '../../base/flags.ts';
import { bad } from './bad-configuration.ts';
import type { ETCD_FLAGS } from './flags.ts';
import { FEATURE_GATES, type FeatureGate, type FeatureGates } from './gate-names.ts';

/** The switch that each gate had before 3.6. */
const OLDER_SWITCHES = {
  'experimental-stop-grpc-service-on-defrag': 'StopGRPCServiceOnDefrag',
  'experimental-initial-corrupt-check': 'InitialCorruptCheck',
  'experimental-compact-hash-check-enabled': 'CompactHashCheck',
  'experimental-txn-mode-write-with-shared-buffer': 'TxnModeWriteWithSharedBuffer',
  'experimental-enable-lease-checkpoint': 'LeaseCheckpoint',
  'experimental-enable-lease-checkpoint-persist': 'LeaseCheckpointPersist',
} as const;

const isGate = (name: string): name is FeatureGate => Object.hasOwn(FEATURE_GATES, name);

const given = (settings: readonly string[]): Partial<Record<FeatureGate, boolean>> => {
  const gates: Partial<Record<FeatureGate, boolean>> = {};
  for (const setting of settings) {
    const [name = '', value] = setting.split('=');
    if (!isGate(name))
      return bad(
        `--feature-gates: unknown gate ${name}; known gates: ${Object.keys(FEATURE_GATES).join(', ')}`,
      );
    if (value !== 'true' && value !== 'false')
      bad(`--feature-gates: ${setting} must be ${name}=true or ${name}=false`);
    gates[name] = value === 'true';
  }
  return gates;
};

export const featureGates = (
  values: FlagValues<typeof ETCD_FLAGS>,
  isGiven: (flagName: string) => boolean,
): FeatureGates => {
  const named = given(values['feature-gates']);
  const gates: Record<FeatureGate, boolean> = Object.fromEntries(
    Object.entries(FEATURE_GATES).map(([name, gate]) => [name, gate.default]),
  ) as Record<FeatureGate, boolean>;
  for (const [key, gate] of Object.entries(OLDER_SWITCHES)) {
    const flagName = key as keyof typeof OLDER_SWITCHES;
    if (!isGiven(flagName)) continue;
    if (named[gate] !== undefined)
      bad(`cannot specify both flags: --${flagName} and --feature-gates=${gate}=${named[gate]}`);
    gates[gate] = values[flagName];
  }
  Object.assign(gates, named);
  if (gates.LeaseCheckpointPersist && !gates.LeaseCheckpoint)
    bad('enabling feature gate LeaseCheckpointPersist requires enabling feature gate LeaseCheckpoint');
  if (!gates.TxnModeWriteWithSharedBuffer)
    bad(
      'TxnModeWriteWithSharedBuffer=false is not supported: transactions read what they wrote in one buffer',
    );
  return gates;
};
