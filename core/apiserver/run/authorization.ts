import {
  alwaysAllow,
  nodeAuthorizer,
  NodeGraph,
  nodeRules,
  PolicyIndex,
  privilegedGroups,
  rbacAuthorizer,
  unionAuthorizer,
  type Authorizer,
} from '../authz/index.ts';
import type { ApiServerConfig } from '../config/config.ts';

export interface Authorization {
  readonly authorizer: Authorizer;
  readonly policy: PolicyIndex;
  readonly graph: NodeGraph;
}

export const createAuthorization = (config: ApiServerConfig): Authorization => {
  const policy = new PolicyIndex();
  const graph = new NodeGraph();
  const modes = {
    Node: nodeAuthorizer(graph, nodeRules(config.minor)),
    RBAC: rbacAuthorizer(policy),
    AlwaysAllow: alwaysAllow,
  };
  const authorizer = unionAuthorizer([
    privilegedGroups(),
    ...config.authorizationModes.map((mode) => modes[mode]),
  ]);
  return { authorizer, policy, graph };
};
