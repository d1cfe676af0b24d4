export {
  NEWEST_MINOR,
  NEWEST_RELEASE,
  OLDEST_MINOR,
  releaseOf,
  releaseOfVersion,
  type Change,
  type GateSpec,
  type GateStage,
  type Release,
} from './release.ts';
export { defaultGates, readGates, type FeatureGates, type GateProblem } from './feature-gates.ts';
