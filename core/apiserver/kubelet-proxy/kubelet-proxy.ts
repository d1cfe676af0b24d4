import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { messageOf } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import { badRequest, notFound, StatusError, type KubernetesObject } from '../../api/meta/index.ts';
import { goQuote } from '../../api/field/go-text.ts';
import { num, obj, objs, str } from '../../api/validation/read.ts';
import type { ObjectReader } from '../storage/object-reader.ts';
import type { Connection, KubeletPort } from '../registry/subresources/kubelet-port.ts';
import type { RequestContext } from '../server/context.ts';
import { answerEmptyLog, forwardLog } from './forward-log.ts';
import { forwardRequest, type Backend } from './forward.ts';
import { escapePath, proxiedPath, rawQueryOf } from './proxy-path.ts';
import { addressPolicy } from './proxyable-address.ts';
import { serviceEndpoint } from './service-endpoint.ts';

export interface KubeletProxyOptions {
  readonly reader: ObjectReader;
  readonly random: Random;
  /** Where this server is told to be: what it may be made to connect to follows from it. */
  readonly advertiseAddress: string;
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

const READS = new Set(['GET', 'HEAD']);
const MOVED_PERMANENTLY = 301;
const PORT_MAX = 65_535;

const isProxy = ({ to }: Connection): boolean => to.endsWith('-proxy');

const portNumber = (port: string): number => {
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0;
  if (number < 1 || number > PORT_MAX) throw badRequest(`invalid port ${goQuote(port)}`);
  return number;
};

/** Upstream knows ports of a pod by number alone; a name is looked up among its containers'. */
const containerPort = (pod: KubernetesObject, port: string, scheme: string): number => {
  const ports = objs(obj(pod, 'spec'), 'containers').flatMap((container) => objs(container, 'ports'));
  const found = port === '' ? ports[0] : ports.find((one) => str(one, 'name') === port);
  if (found) return portNumber(String(num(found, 'containerPort')));
  return port === '' ? (DEFAULT_PORTS[scheme] ?? DEFAULT_PORTS['http']!) : portNumber(port);
};

const lookupAll = async (host: string): Promise<string[]> => {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch (error) {
    throw badRequest(`lookup ${host}: ${messageOf(error)}`);
  }
};

const withQuery = (path: string, query: URLSearchParams): string =>
  query.size === 0 ? path : `${path}?${query.toString()}`;

/** From this server to kubelets, and to pods and services, over the network of the cluster. */
export const createKubeletProxy = (options: KubeletProxyOptions): KubeletPort => {
  const { reader, random, tls, addressTypes, timeoutMs: connectTimeoutMs } = options;
  const addresses = addressPolicy(options.advertiseAddress);

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

  const checkAddress = (isAllowed: boolean): void => {
    if (!isAllowed) throw badRequest('address not allowed');
  };

  const isPodAddress = async (address: string, pod: KubernetesObject): Promise<boolean> =>
    addresses.isPodAddress(
      address,
      await reader.get({ group: '', resource: 'nodes' }, '', str(obj(pod, 'spec'), 'nodeName')),
    );

  const podBackend = async (pod: KubernetesObject, port: string, scheme: string, path: string) => {
    const [address] = objs(obj(pod, 'status'), 'podIPs').map((one) => str(one, 'ip'));
    checkAddress(address !== undefined && (await isPodAddress(address, pod)));
    return direct(address!, containerPort(pod, port, scheme), scheme, path);
  };

  /** The kubelet itself is asked under this server's identity; any other port of a node is not. */
  const nodeBackend = async (node: KubernetesObject, port: string, scheme: string, path: string) => {
    const own = kubelet(node, path);
    const resolved = isIP(own.host) === 0 ? await lookupAll(own.host) : [own.host];
    checkAddress(resolved.length > 0 && resolved.every((address) => addresses.isNodeAddress(address)));
    return port === '' || port === String(own.port) ? own : direct(own.host, portNumber(port), scheme, path);
  };

  const backendOf = async (
    connection: Connection,
    path: string,
    { request }: RequestContext,
  ): Promise<Backend> => {
    const { query } = request;
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
      case 'pod-proxy':
        return podBackend(connection.pod, connection.port, connection.scheme, path);
      case 'service-proxy': {
        const { service, scheme } = connection;
        const endpoint = await serviceEndpoint(service, connection.port, {
          reader,
          random,
          isAllowed: isPodAddress,
        });
        return direct(endpoint.host, endpoint.port, scheme, path);
      }
      case 'node-proxy':
        return nodeBackend(connection.node, connection.port, connection.scheme, path);
    }
  };

  return {
    async connect(connection, subpath, context) {
      const { request, response, info } = context;
      if (connection.to === 'log') {
        const { pod } = connection;
        if (str(obj(pod, 'spec'), 'nodeName') === '') return answerEmptyLog(context);
        const backend = await backendOf(connection, '', context);
        return forwardLog(context, backend, pod.metadata?.name ?? '');
      }
      if (!isProxy(connection))
        return forwardRequest(context, await backendOf(connection, '', context), { upgradeRequired: true });
      const path = proxiedPath(subpath, request.url);
      const backend = await backendOf(connection, path === '' ? '/' : path, context);
      if (path === '' && READS.has(request.method) && !request.isUpgrade) {
        // Relative links of what is behind the proxy lead past it without the slash.
        response.setHeader('location', `${escapePath(info.path)}/${rawQueryOf(request.url)}`);
        response.begin(MOVED_PERMANENTLY);
        return response.end();
      }
      const prefix = escapePath(info.path.slice(0, info.path.length - subpath.length));
      await forwardRequest(context, backend, { prefix });
    },
  };
};
