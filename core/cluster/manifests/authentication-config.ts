import { stringify } from 'yaml';

/** Below the data directory; every API server of the cluster reads it. */
export const AUTHENTICATION_CONFIG_FILE = 'authentication.yaml';

/** What kubelets and the load balancer probe. */
export const ANONYMOUS_PATHS = ['/livez', '/readyz', '/healthz'];

/** Requests without credentials get to know whether a server is healthy, and nothing else. */
export const authenticationConfigYaml = (): string =>
  stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    anonymous: { enabled: true, conditions: ANONYMOUS_PATHS.map((path) => ({ path })) },
  });
