import { splitObjectKey } from '../../api/meta/index.ts';
import type { HttpAnswer } from '../../component/http-listener.ts';

/** What a health check node port answers load balancers: is there an endpoint on this node? */
export const nodePortHealth = (options: {
  readonly service: string;
  readonly localEndpoints: number;
  readonly isProxyHealthy: boolean;
}): HttpAnswer => {
  const { service, localEndpoints, isProxyHealthy } = options;
  const { namespace, name } = splitObjectKey(service);
  const body = {
    service: { namespace, name },
    localEndpoints,
    serviceProxyHealthy: isProxyHealthy,
  };
  return {
    code: localEndpoints > 0 && isProxyHealthy ? 200 : 503,
    headers: {
      'content-type': 'application/json',
      'x-load-balancing-endpoint-weight': String(localEndpoints),
    },
    body: `${JSON.stringify(body, undefined, '\t')}\n`,
  };
};
