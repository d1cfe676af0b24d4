import { apiVersionOf, type GroupVersionKind, type KubernetesObject } from '../../api/meta/index.ts';

const FLAGS = ['stdin', 'stdout', 'stderr', 'tty'];
const isTrue = (text: string | null): boolean => text === 'true' || text === '1';

/** What each kind of connection takes from its query. */
const READERS: Readonly<
  Record<string, (query: URLSearchParams, subpath: string) => Record<string, unknown>>
> = {
  PodAttachOptions: (query) => streamsOf(query),
  PodExecOptions: (query) => ({
    ...streamsOf(query),
    ...(query.has('command') && { command: query.getAll('command') }),
  }),
  PodPortForwardOptions: (query) => ({
    ...(query.has('ports') && { ports: query.getAll('ports').map(Number) }),
  }),
  PodProxyOptions: (_query, path) => (path === '' ? {} : { path }),
  ServiceProxyOptions: (_query, path) => (path === '' ? {} : { path }),
  NodeProxyOptions: (_query, path) => (path === '' ? {} : { path }),
};

const streamsOf = (query: URLSearchParams): Record<string, unknown> => {
  const container = query.get('container') ?? '';
  return {
    ...Object.fromEntries(FLAGS.filter((name) => isTrue(query.get(name))).map((name) => [name, true])),
    ...(container !== '' && { container }),
  };
};

/** The options of a connection as an object, which is what admission gets to see of it. */
export const connectOptionsOf = (
  kind: GroupVersionKind,
  query: URLSearchParams,
  subpath: string,
): KubernetesObject => ({
  kind: kind.kind,
  apiVersion: apiVersionOf(kind),
  ...READERS[kind.kind]?.(query, subpath),
});
