import { pathNotFound } from '../../api/meta/status-errors.ts';
import type { ResourceType, Verb } from '../../api/scheme/resource-type.ts';
import type { WireRequest } from '../rest/transport.ts';

/** A request for a resource, taken apart. */
export interface FakeRequest {
  readonly verb: Verb;
  readonly type: ResourceType;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly userAgent: string;
  readonly body: unknown;
}

export type FindType = (group: string, version: string, plural: string) => ResourceType | undefined;

const verbOf = (method: string, name: string, query: URLSearchParams): Verb => {
  switch (method) {
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return name === '' ? 'deletecollection' : 'delete';
    default:
      if (query.get('watch') === 'true' || query.get('watch') === '1') return 'watch';
      return name === '' ? 'list' : 'get';
  }
};

/** Undefined for paths that are no resource: discovery, /version. */
export const parseRequest = (request: WireRequest, findType: FindType): FakeRequest | undefined => {
  const url = new URL(request.path, 'https://fake');
  const parts = url.pathname.split('/').slice(1).map(decodeURIComponent);
  const core = parts[0] === 'api';
  if (!core && parts[0] !== 'apis') return undefined;
  const [group, version, ...rest] = core ? ['', parts[1], ...parts.slice(2)] : [parts[1], ...parts.slice(2)];
  if (group === undefined || version === undefined || rest.length === 0) return undefined;
  // `namespaces/x/finalize` is of the namespace, `namespaces/x/pods` of what is in it.
  const inNamespace =
    rest[0] === 'namespaces' && rest.length > 2 && !(core && ['status', 'finalize'].includes(rest[2]!));
  const [plural = '', name = '', ...below] = inNamespace ? rest.slice(2) : rest;
  const type = findType(group, version, plural);
  if (!type) throw pathNotFound();
  const body = request.body === undefined ? undefined : Buffer.from(request.body).toString();
  return {
    verb: verbOf(request.method, name, url.searchParams),
    type,
    namespace: inNamespace ? rest[1]! : '',
    name,
    subresource: below.join('/'),
    query: url.searchParams,
    contentType: String(request.headers['content-type'] ?? ''),
    userAgent: String(request.headers['user-agent'] ?? ''),
    body: body === undefined || body === '' ? undefined : (JSON.parse(body) as unknown),
  };
};

/** `create pods/binding default/web-0`: the form in which tests read what was written. */
export const requestText = ({ verb, type, namespace, name, subresource, body }: FakeRequest): string => {
  const plural = subresource === '' ? type.plural : `${type.plural}/${subresource}`;
  const metadata = (body as { metadata?: { name?: string; generateName?: string } } | undefined)?.metadata;
  const named = name !== '' ? name : (metadata?.name ?? metadata?.generateName ?? '');
  const place = [namespace, named].filter((part) => part !== '').join('/');
  return [verb, plural, place].filter((part) => part !== '').join(' ');
};
