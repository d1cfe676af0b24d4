import type { Behaviour } from './behaviour.ts';
import { environmentBehaviours } from './environment.ts';
import { identityAndNetworkBehaviours } from './identity-and-network.ts';
import { initAndProbeBehaviours } from './init-and-probes.ts';
import { lifecycleBehaviours } from './lifecycle.ts';
import { resourceBehaviours } from './resources.ts';
import { volumeBehaviours } from './volumes.ts';

export { runBehaviours, type Behaviour, type BehaviourNode } from './behaviour.ts';

/** What the documentation of Kubernetes says of pods, on every runtime. */
export const BEHAVIOURS: readonly Behaviour[] = [
  ...volumeBehaviours,
  ...environmentBehaviours,
  ...lifecycleBehaviours,
  ...initAndProbeBehaviours,
  ...identityAndNetworkBehaviours,
  ...resourceBehaviours,
];
