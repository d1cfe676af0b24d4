import { apiPathOf } from '../../core/api/meta/group-version.ts';
import type { Clock } from '../../core/base/clock.ts';
import {
  ContractError,
  EXTENSION_LIST_MAX,
  say,
  type CallHandler,
  type ExtensionAnswer,
  type ExtensionRequest,
} from '../../core/contract/index.ts';
import type { DiscoveredResource } from '../../core/client/index.ts';
import type { ClusterConnection, Connections } from '../kube/connections.ts';
import { kubeFailure } from '../kube/failure.ts';
import type { Extensions } from './extensions.ts';

/** Of one extension; its page waits with more. */
export const REQUESTS_IN_PROGRESS_MAX = 4;
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;
const TIMEOUT_MS = 15_000;

const resourceOf = async (connection: ClusterConnection, name: string): Promise<DiscoveredResource> => {
  const [plural = '', ...group] = name.split('.');
  const { resources } = await connection.discovery();
  const found = resources.filter((one) => one.plural === plural && one.group === group.join('.'));
  const resource = found.find(({ isPreferred }) => isPreferred) ?? found[0];
  if (resource) return resource;
  throw new ContractError('NotFound', say('failure.extension.notServed', { resource: name }));
};

const pathOf = async (connection: ClusterConnection, request: ExtensionRequest): Promise<string> => {
  const resource = await resourceOf(connection, request.resource);
  const wanted = request.namespace ?? '';
  // A user of one namespace sees that namespace.
  const namespace =
    wanted === '' && request.kind === 'list' ? ((await connection.listScope(resource)) ?? '') : wanted;
  const within =
    resource.namespaced && namespace !== '' ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const name = request.kind === 'get' ? `/${encodeURIComponent(request.name)}` : '';
  return `${apiPathOf(resource)}${within}/${resource.plural}${name}`;
};

type Json = Record<string, unknown>;

/** Half of what a list weighs, and of no use to a page. */
const withoutManagedFields = (object: Json): Json => {
  const { metadata } = object as { metadata?: Json };
  if (metadata?.['managedFields'] === undefined) return object;
  const { managedFields: _managed, ...rest } = metadata;
  return { ...object, metadata: rest };
};

const stripped = (body: Json): Json =>
  Array.isArray(body['items'])
    ? { ...body, items: (body['items'] as Json[]).map(withoutManagedFields) }
    : withoutManagedFields(body);

/** Reads as text with a bound: an answer that is larger ends here, however large it would become. */
const readBounded = async (
  { client }: ClusterConnection,
  path: string,
  { query, signal }: { readonly query: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<string> => {
  const stream = await client.stream({ method: 'GET', path, query, signal });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX)
        throw new ContractError('BadRequest', say('failure.tooLarge', { request: `GET ${path}` }));
      chunks.push(chunk);
    }
  } finally {
    stream.dispose();
  }
  return Buffer.concat(chunks).toString('utf8');
};

const queryOf = (request: ExtensionRequest): Record<string, string> =>
  request.kind === 'get'
    ? {}
    : {
        limit: String(request.limit ?? EXTENSION_LIST_MAX),
        ...(request.labelSelector && { labelSelector: request.labelSelector }),
        ...(request.continue && { continue: request.continue }),
      };

export interface ExtensionReadOptions {
  readonly clock: Clock;
  readonly extensions: Pick<Extensions, 'readsOf'>;
  readonly connections: Pick<Connections, 'open'>;
}

/** Answers reads of extensions: what the person has consented to, with the rights of the person, and nothing else. */
export const createExtensionRead = ({
  clock,
  extensions,
  connections,
}: ExtensionReadOptions): CallHandler<'extensions.read'> => {
  const inProgress = new Map<string, number>();

  const read = async (
    cluster: string,
    request: ExtensionRequest,
    signal: AbortSignal,
  ): Promise<ExtensionAnswer> => {
    const late = new AbortController();
    // Of the request with its body: the client's own bound is for the head alone.
    const deadline = clock.after(TIMEOUT_MS, () =>
      late.abort(
        new ContractError('Unavailable', say('failure.unreached.TimedOut', { detail: request.resource })),
      ),
    );
    try {
      const connection = await connections.open(cluster);
      const path = await pathOf(connection, request);
      const bounded = AbortSignal.any([signal, late.signal]);
      const text = await readBounded(connection, path, { query: queryOf(request), signal: bounded });
      return { body: stripped(JSON.parse(text) as Json) };
    } catch (error) {
      throw kubeFailure(late.signal.aborted ? late.signal.reason : error);
    } finally {
      deadline.dispose();
    }
  };

  return async ({ cluster, extension, request }, signal) => {
    const { name } = extension;
    const declared = extensions.readsOf(extension);
    const { resource } = request;
    if (!declared.includes(resource))
      throw new ContractError(
        'Forbidden',
        say('failure.extension.undeclared', { name, resource, declared: declared.join(', ') || '-' }),
      );
    const count = inProgress.get(name) ?? 0;
    if (count >= REQUESTS_IN_PROGRESS_MAX)
      throw new ContractError(
        'Unavailable',
        say('failure.extension.busy', { name, max: REQUESTS_IN_PROGRESS_MAX }),
      );
    inProgress.set(name, count + 1);
    try {
      return await read(cluster, request, signal);
    } finally {
      const left = (inProgress.get(name) ?? 1) - 1;
      if (left > 0) inProgress.set(name, left);
      else inProgress.delete(name);
    }
  };
};
