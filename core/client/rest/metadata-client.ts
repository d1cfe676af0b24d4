import { apiPathOf } from '../../api/meta/group-version.ts';
import type { KubernetesObject } from '../../api/meta/object-meta.ts';
import type { Client, RawRequest } from '../client.ts';
import type { Kind } from '../kind.ts';
import { RestResourceClient } from './resource-client.ts';

/** A server that cannot cut objects down answers with whole ones. */
const accept = (kind: string): string => `application/json;as=${kind};g=meta.k8s.io;v=v1,application/json`;
const LIST = accept('PartialObjectMetadataList');
const WATCH = accept('PartialObjectMetadata');

const isCollection = (path: string, kind: Kind): boolean => {
  const parts = path.slice(apiPathOf(kind).length + 1).split('/');
  return parts.length === 1 || (kind.namespaced && parts.length === 3);
};

/**
 * A client that lists and watches the metadata of objects alone, which is a small part of what watching everything
 * would cost. All else is as ever.
 */
export const metadataOnly = (client: Client): Client => ({
  resource<T extends KubernetesObject>(kind: Kind<T>, namespace?: string) {
    const sender: Pick<Client, 'json' | 'stream'> = {
      json: <R>(request: RawRequest) =>
        client.json<R>(
          request.method === 'GET' && isCollection(request.path, kind)
            ? { ...request, accept: LIST }
            : request,
        ),
      stream: (request) =>
        client.stream(isCollection(request.path, kind) ? { ...request, accept: WATCH } : request),
    };
    return new RestResourceClient<T>(sender, kind, namespace);
  },
  json: (request) => client.json(request),
  text: (request) => client.text(request),
  stream: (request) => client.stream(request),
  fenced: (signal, options) => metadataOnly(client.fenced(signal, options)),
  as: (impersonation) => metadataOnly(client.as(impersonation)),
  withToken: (token) => metadataOnly(client.withToken(token)),
  withUserAgent: (userAgent) => metadataOnly(client.withUserAgent(userAgent)),
});
