import type { Node, Stored } from '../../client/index.ts';

const EXCLUDE_LABEL = 'node.kubernetes.io/exclude-from-external-load-balancers';

/** Whether it is ready does not matter: load balancers find that out sooner on their own. */
export const isLoadBalancerNode = ({ metadata, spec }: Stored<Node>): boolean =>
  metadata.deletionTimestamp === undefined &&
  metadata.labels?.[EXCLUDE_LABEL] === undefined &&
  Boolean(spec?.providerID);

export const sameNames = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name, index) => name === b[index]);
