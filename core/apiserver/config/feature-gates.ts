import { ReasonError } from '../../base/errors.ts';
import { readGates, releaseOf, type FeatureGates } from '../../api/releases/index.ts';

/** The gates that this server can turn, each asked for where it matters. */
export const SWITCHED_GATES: ReadonlySet<string> = new Set([
  'APIServerIdentity',
  'MutatingAdmissionPolicy',
  'NodeDeclaredFeatures',
  'PodTopologyLabelsAdmission',
  'WatchList',
]);

/** The gates of an emulated release as --feature-gates changes them. */
export const featureGatesOf = (settings: readonly string[], minor: number): FeatureGates => {
  const gates = readGates(settings, releaseOf(minor), SWITCHED_GATES);
  if ('problem' in gates) throw new ReasonError('BadConfiguration', `--feature-gates: ${gates.problem}`);
  return gates;
};
