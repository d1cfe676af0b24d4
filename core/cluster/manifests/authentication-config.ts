import { stringify } from 'yaml';

/** Below the data directory; every API server of the cluster reads it. */
export const AUTHENTICATION_CONFIG_FILE = 'authentication.yaml';

/** What kubelets and the load balancer probe. */
const HEALTH_PATHS = ['/livez', '/readyz', '/healthz'];
/** A machine that joins has no credentials yet. RBAC decides who may read it. */
const CLUSTER_INFO_PATH = '/api/v1/namespaces/kube-public/configmaps/cluster-info';

export const ANONYMOUS_PATHS = [...HEALTH_PATHS, CLUSTER_INFO_PATH];

/** Requests without credentials get to know whether a server is healthy and which cluster it is, and nothing else. */
export const authenticationConfigYaml = (paths: readonly string[] = ANONYMOUS_PATHS): string =>
  stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    anonymous: { enabled: true, conditions: paths.map((path) => ({ path })) },
  });

/** As it was written before machines could join. */
export const FIRST_AUTHENTICATION_CONFIG = authenticationConfigYaml(HEALTH_PATHS);
