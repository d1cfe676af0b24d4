import { limitedSignal } from '../../base/node/limited-signal.ts';
import { userInfo } from '../server/user.ts';
import { dialErrorText } from '../kubelet-proxy/dial-error.ts';
import { ask, giveBack, headersFor, type Backend } from '../kubelet-proxy/forward.ts';
import { tunnel } from '../kubelet-proxy/tunnel.ts';
import { sendTextError } from '../server/response.ts';
import type { RequestContext } from '../server/context.ts';
import type { Stage } from '../server/pipeline.ts';
import { OWN_GROUP, type RemoteApiService } from './api-service.ts';
import type { RemoteClient } from './remote-client.ts';
import { isIdentityHeader } from './remote-identity.ts';

const UNAVAILABLE = 'service unavailable';
/** Discovery of one group version must be quick: every client waits for it. */
const DISCOVERY_TIMEOUT_MS = 5_000;
const DISCOVERY_SEGMENTS = 3;
const VIA = 'kube-aggregator';
const CONTROL = /[\x00-\x20\x7f]/;

export interface AggregationStageOptions {
  readonly client: RemoteClient;
  /** The APIService of a group version; undefined where this server answers itself. */
  find(group: string, version: string): RemoteApiService | undefined;
}

/** Which APIService a path belongs to: what is below its group version, and its OpenAPI 3 document. */
const targetOf = (
  { find }: AggregationStageOptions,
  path: string,
): { readonly service: RemoteApiService; readonly isDiscovery: boolean } | undefined => {
  const parts = path.replace(/^\/+|\/+$/g, '').split('/');
  const isOpenApi = parts[0] === 'openapi' && parts[1] === 'v3' && parts.length === 5;
  const [root, group, version] = isOpenApi ? parts.slice(2) : parts;
  if (root !== 'apis' || group === undefined || version === undefined || group === OWN_GROUP)
    return undefined;
  const service = find(group, version);
  return service && { service, isDiscovery: isOpenApi || parts.length === DISCOVERY_SEGMENTS };
};

/** Passes requests for the group versions of other servers on to them, as the user who made them. */
export const aggregationStage = (options: AggregationStageOptions): Stage => ({
  name: 'aggregation',
  run(context) {
    const target = targetOf(options, context.info.path);
    if (target === undefined) return 'next';
    return proxy(context, options.client, target).then(() => 'done');
  },
});

const proxy = async (
  context: RequestContext,
  client: RemoteClient,
  { service, isDiscovery }: { readonly service: RemoteApiService; readonly isDiscovery: boolean },
): Promise<void> => {
  const { request, response, auditId } = context;
  if (!service.isAvailable) return sendTextError(response, 503, UNAVAILABLE);
  // An APIService may lead back to this server, or to another replica: once is enough to know.
  if (request.headers.all('via').some((via) => via.includes(VIA)))
    return sendTextError(response, 508, 'loop detected: an APIService leads back to the aggregator');
  if (CONTROL.test(request.url)) return sendTextError(response, 400, 'the request target is not valid');
  // As upstream: why there is no endpoint is for the condition of the APIService, not for clients.
  const endpoint = await client.resolve(service).catch(() => undefined);
  if (endpoint === undefined) return sendTextError(response, 503, UNAVAILABLE);
  // Authentication has taken these out already; nothing a client says of itself may pass here.
  for (const [name] of [...request.headers.entries()])
    if (isIdentityHeader(name)) request.headers.delete(name);
  const base = client.backend(service, endpoint, request.url, context.user ?? userInfo(''));
  if (base === undefined || context.user === undefined) return sendTextError(response, 500, 'missing user');
  const backend: Backend = {
    ...base,
    headers: { ...base.headers, 'audit-id': [auditId], via: [`1.1 ${VIA}`] },
  };
  if (request.isUpgrade) return tunnel(context, backend);
  await (isDiscovery ? forwardDiscovery(context, backend) : forward(context, backend, request.signal));
};

const forwardDiscovery = async (context: RequestContext, backend: Backend): Promise<void> => {
  const limited = limitedSignal(context.request.signal, DISCOVERY_TIMEOUT_MS);
  try {
    await forward(context, backend, limited.signal);
  } finally {
    limited.dispose();
  }
};

const forward = async (context: RequestContext, backend: Backend, signal: AbortSignal): Promise<void> => {
  const { request, response } = context;
  const body = await request.body();
  const answer = await ask({ request: { method: request.method, signal } }, backend, {
    headers: headersFor(context, backend),
    ...(body.byteLength > 0 && { body }),
  }).catch((error: unknown) => error as Error);
  if (answer instanceof Error)
    return sendTextError(response, 503, `error trying to reach service: ${dialErrorText(backend, answer)}`);
  const code = answer.statusCode ?? 502;
  if (code >= 300 && code <= 399 && answer.headers.location !== undefined) {
    answer.destroy();
    response.begin(502);
    await response.write('the backend attempted to redirect this request, which is not permitted');
    return response.end();
  }
  await giveBack(context, answer);
};
