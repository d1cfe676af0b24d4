import type { Disposable } from '../../core/base/disposable.ts';
import {
  type Handlers,
  type KubeDiscovery,
  type StreamHandler,
  type StreamName,
  verbatim,
} from '../../core/contract/index.ts';
import { isWrite, sendRequest } from './api-request.ts';
import { applyObject } from './apply.ts';
import {
  createConnections,
  type ClusterConnection,
  type Connections,
  type ConnectionsOptions,
} from './connections.ts';
import { ExecSessions } from './exec.ts';
import { kubeFailure } from './failure.ts';
import { createForwardHandlers } from './forwards.ts';
import { readLogs } from './logs.ts';
import { indexObjects } from './object-index.ts';
import { watchObject } from './object-watch.ts';
import { OpenApiCache } from './openapi.ts';
import { readAsConsole } from './read-as-console.ts';
import { SignIns, type SignInsOptions } from './sign-ins.ts';
import { watchTable } from './table-watch.ts';

const discoveryOf = async (connection: ClusterConnection, isFresh: boolean): Promise<KubeDiscovery> => {
  try {
    const [serverVersion, { resources, failed }] = await Promise.all([
      connection.serverVersion(),
      connection.discovery(isFresh),
    ]);
    return {
      serverVersion,
      resources: resources.map((resource) => ({
        ...resource,
        shortNames: [...resource.shortNames],
        categories: [...resource.categories],
        verbs: [...resource.verbs],
        subresources: [...resource.subresources],
      })),
      failed: [...failed].map(([groupVersion, message]) => ({
        groupVersion,
        message: verbatim(message),
      })),
    };
  } catch (error) {
    throw kubeFailure(error);
  }
};

/** A stream that needs a connection first. */
const opening = <N extends StreamName>(
  open: (cluster: string) => Promise<ClusterConnection>,
  run: (
    connection: ClusterConnection,
    input: Parameters<StreamHandler<N>>[0],
    signal: AbortSignal,
  ) => ReturnType<StreamHandler<N>>,
): StreamHandler<N> =>
  async function* (input, signal) {
    const connection = await open((input as { cluster: string }).cluster);
    yield* run(connection, input, signal);
  } as StreamHandler<N>;

/** Everything the console asks of clusters. Disposing closes forwarded ports and connections. */
export const createKubeHandlers = (
  given: Omit<ConnectionsOptions, 'signIns'> & Pick<SignInsOptions, 'openExternal' | 'home'>,
): Disposable & { readonly handlers: Handlers; readonly connections: Connections } => {
  const { clock, random } = given;
  const signIns = new SignIns(given);
  const options = { ...given, signIns };
  const connections = createConnections(options);
  const schemas = new OpenApiCache();
  const sessions = new ExecSessions(clock);
  const { open, openForWriting, configured } = connections;
  const forwards = createForwardHandlers({ connect: openForWriting, clock, random });

  const handlers: Handlers = {
    ...forwards.handlers,
    'signIn.state': async ({ cluster }) => {
      const { entry, config } = await configured(cluster);
      return signIns.state(entry, config);
    },
    'signIn.begin': async ({ cluster }) => {
      const { entry, config } = await configured(cluster);
      return signIns.begin(entry, config);
    },
    'signIn.end': async ({ cluster }) => {
      const { entry, config } = await configured(cluster);
      return signIns.end(entry, config);
    },
    'kube.discovery': async ({ cluster, isFresh }) => discoveryOf(await open(cluster), isFresh),
    'kube.table': opening<'kube.table'>(open, async function* (connection, query, signal) {
      const scope = query.namespace === null ? await connection.listScope(query.resource) : null;
      if (scope !== null) yield [{ kind: 'scope', namespace: scope }];
      const scoped = { ...query, namespace: query.namespace ?? scope };
      yield* readAsConsole(connection, (client) => watchTable(scoped, { client, clock, random }, signal));
    }),
    'kube.search': opening<'kube.search'>(open, async function* (connection, _query, signal) {
      const { resources } = await discoveryOf(connection, false);
      yield* indexObjects(resources, { client: connection.client, clock, random }, signal);
    }),
    'kube.object': opening<'kube.object'>(open, (connection, query, signal) =>
      readAsConsole(connection, (client) => watchObject(query, { client, clock, random }, signal)),
    ),
    'kube.request': async (request, signal) => {
      const { client } = await (isWrite(request) ? openForWriting : open)(request.cluster);
      return sendRequest(client, request, signal);
    },
    'kube.apply': async (request, signal) =>
      applyObject(await (request.dryRun ? open : openForWriting)(request.cluster), request, signal),
    'kube.openapi': async ({ cluster, path }, signal) => {
      const { client } = await open(cluster);
      return { schemas: await schemas.schemas(cluster, client, path, signal) };
    },
    'kube.logs': opening<'kube.logs'>(open, ({ client }, query, signal) =>
      readLogs(query, { client, clock }, signal),
    ),
    'kube.exec': opening<'kube.exec'>(openForWriting, ({ config }, query, signal) =>
      sessions.run(query, config, signal),
    ),
    'kube.execInput': async ({ session, text, size }) => {
      if (text !== undefined) sessions.write(session, text);
      if (size) sessions.resize(session, size);
      return undefined;
    },
  };
  return {
    handlers,
    connections,
    dispose() {
      forwards.dispose();
      signIns.dispose();
      connections.dispose();
    },
  };
};
