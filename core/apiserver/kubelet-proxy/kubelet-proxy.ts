import type { ConnectionOptions } from 'node:tls';
import {
  badRequest,
  notFound,
  serviceUnavailable,
  StatusError,
  type KubernetesObject,
} from '../../api/meta/index.ts';
import { maybeObj, num, obj, objs, str } from '../../api/validation/read.ts';
import type { ObjectReader } from '../admission/object-reader.ts';
import type { Connection, KubeletPort } from '../registry/subresources/kubelet-port.ts';
import type { RequestContext } from '../server/index.ts';
import { answerEmptyLog, forwardLog } from './forward-log.ts';
import { forwardRequest, type Backend } from './forward.ts';

export interface KubeletProxyOptions {
  readonly reader: ObjectReader;
  /** This server's identity towards kubelets; asked for every connection, so that renewed files are used. */
  readonly tls: () => ConnectionOptions;
  /** Upstream's --kubelet-preferred-address-types. */
  readonly addressTypes: readonly string[];
  /** Upstream's --kubelet-timeout. */
  readonly timeoutMs: number;
}

const KUBELET_PORT = 10_250;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 };

/** Options of `kubectl logs`, which the kubelet spells the same way. */
const LOG_OPTIONS = [
  'follow',
  'previous',
  'sinceSeconds',
  'sinceTime',
  'timestamps',
  'tailLines',
  'limitBytes',
  'stream',
];
/** The streams of exec and attach: the API's word and the kubelet's. */
const STREAMS = [
  ['stdin', 'input'],
  ['stdout', 'output'],
  ['stderr', 'error'],
  ['tty', 'tty'],
] as const;

const isTrue = (text: string | null): boolean => text === 'true' || text === '1';

const logQuery = (query: URLSearchParams): URLSearchParams => {
  const sent = new URLSearchParams();
  for (const name of LOG_OPTIONS) {
    const value = query.get(name);
    if (value !== null) sent.set(name, value);
  }
  return sent;
};

const streamQuery = (query: URLSearchParams, defaults: readonly string[]): URLSearchParams => {
  const sent = new URLSearchParams();
  for (const [asked, told] of STREAMS)
    if (query.has(asked) ? isTrue(query.get(asked)) : defaults.includes(asked)) sent.set(told, '1');
  if (!['input', 'output', 'error'].some((name) => sent.has(name)))
    throw badRequest('you must specify at least 1 of stdin, stdout, stderr');
  for (const command of query.getAll('command')) sent.append('command', command);
  return sent;
};

/** Ports of the channel protocol: the API's word and the kubelet's. SPDY names them in its streams. */
const portQuery = (query: URLSearchParams): URLSearchParams => {
  const sent = new URLSearchParams();
  for (const port of query.getAll('ports').flatMap((ports) => ports.split(','))) sent.append('port', port);
  return sent;
};

const withQuery = (path: string, query: URLSearchParams): string =>
  query.size === 0 ? path : `${path}?${query.toString()}`;

/** From this server to kubelets, and to pods and services, over the network of the cluster. */
export const createKubeletProxy = (options: KubeletProxyOptions): KubeletPort => {
  const { reader, tls, addressTypes, timeoutMs: connectTimeoutMs } = options;

  const addressOf = (node: KubernetesObject): string => {
    const known = objs(obj(node, 'status'), 'addresses');
    for (const type of addressTypes) {
      const found = known.find((one) => str(one, 'type') === type);
      if (found) return str(found, 'address');
    }
    const addresses = known.map((one) => `{${str(one, 'type')} ${str(one, 'address')}}`).join(' ');
    throw new StatusError('', `no preferred addresses found; known addresses: [${addresses}]`, { code: 500 });
  };

  const kubelet = (node: KubernetesObject, path: string): Backend => ({
    host: addressOf(node),
    port: num(obj(obj(obj(node, 'status'), 'daemonEndpoints'), 'kubeletEndpoint'), 'Port') || KUBELET_PORT,
    path,
    tls: tls(),
    connectTimeoutMs,
  });

  const nodeOf = async (pod: KubernetesObject): Promise<KubernetesObject> => {
    const name = str(obj(pod, 'spec'), 'nodeName');
    const node = await reader.get({ group: '', resource: 'nodes' }, '', name);
    if (node === undefined) throw notFound({ group: '', resource: 'nodes' }, name);
    return node;
  };

  const direct = (host: string, port: number, scheme: string, path: string): Backend => ({
    host,
    port,
    path,
    // As upstream: the certificates of pods are their own affair.
    tls: scheme === 'https' ? { rejectUnauthorized: false } : undefined,
    connectTimeoutMs,
  });

  const containerPort = (pod: KubernetesObject, port: string, scheme: string): number => {
    if (/^\d+$/.test(port)) return Number(port);
    const ports = objs(obj(pod, 'spec'), 'containers').flatMap((container) => objs(container, 'ports'));
    const found = port === '' ? ports[0] : ports.find((one) => str(one, 'name') === port);
    if (found) return num(found, 'containerPort') ?? 0;
    if (port === '') return DEFAULT_PORTS[scheme] ?? DEFAULT_PORTS['http']!;
    throw badRequest(`no port ${JSON.stringify(port)} in pod ${pod.metadata?.name ?? ''}`);
  };

  const endpointOf = async (service: KubernetesObject, port: string): Promise<[string, number]> => {
    const { namespace = '', name = '' } = service.metadata ?? {};
    const ports = objs(obj(service, 'spec'), 'ports');
    const wanted = ports.find(
      (one) => port === '' || str(one, 'name') === port || String(num(one, 'port')) === port,
    );
    if (!wanted)
      throw serviceUnavailable(`no service port ${JSON.stringify(port)} found for service "${name}"`);
    const slices = await reader.list({ group: 'discovery.k8s.io', resource: 'endpointslices' }, namespace);
    const candidates: [string, number][] = [];
    for (const slice of slices) {
      if (slice.metadata?.labels?.['kubernetes.io/service-name'] !== name) continue;
      const target = objs(slice, 'ports').find((one) => str(one, 'name') === str(wanted, 'name'));
      const targetPort = target && num(target, 'port');
      if (!targetPort) continue;
      for (const endpoint of objs(slice, 'endpoints')) {
        if (maybeObj(endpoint, 'conditions')?.['ready'] === false) continue;
        const [address] = (endpoint['addresses'] ?? []) as string[];
        if (address !== undefined) candidates.push([address, targetPort]);
      }
    }
    const chosen = candidates[Math.floor(Math.random() * candidates.length)];
    if (!chosen) throw serviceUnavailable(`no endpoints available for service "${name}"`);
    return chosen;
  };

  const backendOf = async (
    connection: Connection,
    subpath: string,
    { request }: RequestContext,
  ): Promise<Backend> => {
    const { query } = request;
    const rest = withQuery(`/${subpath}`, query);
    switch (connection.to) {
      case 'log':
      case 'exec':
      case 'attach':
      case 'portforward': {
        const { namespace = '', name = '' } = connection.pod.metadata ?? {};
        const node = await nodeOf(connection.pod);
        if (connection.to === 'portforward')
          return kubelet(node, withQuery(`/portForward/${namespace}/${name}`, portQuery(query)));
        const where = `${namespace}/${name}/${connection.container}`;
        if (connection.to === 'log')
          return kubelet(node, withQuery(`/containerLogs/${where}`, logQuery(query)));
        return kubelet(
          node,
          withQuery(`/${connection.to}/${where}`, streamQuery(query, ['stdout', 'stderr'])),
        );
      }
      case 'pod-proxy': {
        const { pod, port, scheme } = connection;
        const address = str(obj(pod, 'status'), 'podIP');
        if (address === '') throw badRequest('address not allowed');
        return direct(address, containerPort(pod, port, scheme), scheme, rest);
      }
      case 'service-proxy': {
        const [host, port] = await endpointOf(connection.service, connection.port);
        return direct(host, port, connection.scheme, rest);
      }
      case 'node-proxy':
        return kubelet(connection.node, rest);
    }
  };

  return {
    async connect(connection, subpath, context) {
      if (connection.to === 'log') {
        const { pod } = connection;
        if (str(obj(pod, 'spec'), 'nodeName') === '') return answerEmptyLog(context);
        const backend = await backendOf(connection, subpath, context);
        return forwardLog(context, backend, pod.metadata?.name ?? '');
      }
      await forwardRequest(context, await backendOf(connection, subpath, context));
    },
  };
};
