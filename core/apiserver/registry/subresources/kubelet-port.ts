import { badRequest, serviceUnavailable, type KubernetesObject } from '../../../api/meta/index.ts';
import { obj, objs, str } from '../../../api/validation/read.ts';
import type { RequestContext } from '../../server/context.ts';
import type { GenericStore } from '../generic/generic-store.ts';
import type { RestStorage, Scope } from '../rest-storage.ts';

/** What the stream is for, with the objects it concerns as they are now. */
export type Connection =
  | {
      readonly to: 'log' | 'exec' | 'attach';
      readonly pod: KubernetesObject;
      /** Never empty: the one that was asked for, or the only one. */
      readonly container: string;
    }
  | { readonly to: 'portforward'; readonly pod: KubernetesObject }
  | {
      readonly to: 'pod-proxy';
      readonly pod: KubernetesObject;
      readonly port: string;
      readonly scheme: string;
    }
  | {
      readonly to: 'service-proxy';
      readonly service: KubernetesObject;
      readonly port: string;
      readonly scheme: string;
    }
  | {
      readonly to: 'node-proxy';
      readonly node: KubernetesObject;
      readonly port: string;
      readonly scheme: string;
    };

/** The way from this server to kubelets and to what runs on nodes. It answers the request itself. */
export interface KubeletPort {
  connect(connection: Connection, subpath: string, context: RequestContext): Promise<void>;
}

/** `[scheme:]name[:port]`, as proxies spell what they lead to. */
export const splitProxyName = (text: string): { scheme: string; name: string; port: string } | undefined => {
  const parts = text.split(':');
  if (parts.length > 3) return undefined;
  const [scheme, name, port] =
    parts.length === 3 ? (parts as [string, string, string]) : ['', parts[0]!, parts[1] ?? ''];
  return name !== '' && ['http', 'https', ''].includes(scheme) ? { scheme, name, port } : undefined;
};

const containerNames = (pod: KubernetesObject): string[] =>
  ['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) =>
    objs(obj(pod, 'spec'), list).map((container) => str(container, 'name')),
  );

const chooseContainer = (pod: KubernetesObject, asked: string): string => {
  const name = pod.metadata?.name ?? '';
  const main = objs(obj(pod, 'spec'), 'containers');
  if (asked !== '') {
    if (containerNames(pod).includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${name}`);
  }
  if (main.length === 1) return str(main[0]!, 'name');
  if (main.length === 0) throw badRequest(`a container name must be specified for pod ${name}`);
  throw badRequest(
    `a container name must be specified for pod ${name}, choose one of: [${containerNames(pod).join(' ')}]`,
  );
};

const needPort = (port: KubeletPort | undefined): KubeletPort => {
  if (port !== undefined) return port;
  throw serviceUnavailable('this API server has no way to the nodes: no kubelet connection is configured');
};

const read = async (store: GenericStore, scope: Scope, name: string): Promise<KubernetesObject> =>
  (await store.get(scope, name, { resourceVersion: '' })).object;

const needHost = (pod: KubernetesObject): void => {
  if (str(obj(pod, 'spec'), 'nodeName') === '')
    throw badRequest(`pod ${pod.metadata?.name ?? ''} does not have a host assigned`);
};

export const podStream = (
  pods: GenericStore,
  to: 'log' | 'exec' | 'attach',
  port: KubeletPort | undefined,
): RestStorage => ({
  async connect(scope, name, subpath, context) {
    const pod = await read(pods, scope, name);
    const container = chooseContainer(pod, context.request.query.get('container') ?? '');
    if (to !== 'log') needHost(pod);
    await needPort(port).connect({ to, pod, container }, subpath, context);
  },
});

export const podPortForward = (pods: GenericStore, port: KubeletPort | undefined): RestStorage => ({
  async connect(scope, name, subpath, context) {
    const pod = await read(pods, scope, name);
    needHost(pod);
    await needPort(port).connect({ to: 'portforward', pod }, subpath, context);
  },
});

/** A proxy to a pod, a service or a node: `name`, `name:port` or `scheme:name:port`. */
export const proxyTo = (
  store: GenericStore,
  what: 'pod' | 'service' | 'node',
  port: KubeletPort | undefined,
): RestStorage => ({
  async connect(scope, text, subpath, context) {
    const target = splitProxyName(text);
    if (target === undefined) throw badRequest(`invalid ${what} request ${JSON.stringify(text)}`);
    const object = await read(store, scope, target.name);
    const rest = { port: target.port, scheme: target.scheme };
    const connection: Connection =
      what === 'pod'
        ? { to: 'pod-proxy', pod: object, ...rest }
        : what === 'service'
          ? { to: 'service-proxy', service: object, ...rest }
          : { to: 'node-proxy', node: object, ...rest };
    await needPort(port).connect(connection, subpath, context);
  },
});
