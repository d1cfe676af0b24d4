import { hasReason, ReasonError } from '../../base/errors.ts';
import { parseFieldSelector, parseLabelSelector, requiredFieldValue } from '../../api/selector/index.ts';

/** What a request asks for, read off its method and URL alone. */
export interface RequestInfo {
  readonly isResourceRequest: boolean;
  readonly path: string;
  /** The verb of the API (list, watch, deletecollection...), or the method in lower case. */
  readonly verb: string;
  readonly apiPrefix: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** Resource, name, subresource and what follows. */
  readonly parts: readonly string[];
  /** As sent; set only for the verbs that honour selectors. */
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

const API_PREFIXES = new Set(['api', 'apis']);
const GROUPLESS_PREFIXES = new Set(['api']);
/** Legacy: the verb stands in the path. */
const PATH_VERBS = new Set(['proxy', 'watch']);
const PATH_VERBS_WITHOUT_SUBRESOURCES = new Set(['proxy']);
/** Tells a subresource of a namespace from a resource within it. */
const NAMESPACE_SUBRESOURCES = new Set(['status', 'finalize']);
const SELECTOR_VERBS = new Set(['list', 'watch', 'deletecollection']);

const VERB_OF_METHOD: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  HEAD: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

const INTEGER = /^[+-]?\d+$/;

const isTrue = (text: string | null): boolean =>
  text !== null && text !== '0' && text.toLowerCase() !== 'false';

const isPathSegmentName = (name: string): boolean =>
  name !== '.' && name !== '..' && !name.includes('/') && !name.includes('%');

/** The name that a field selector pins; undefined also where any list option does not parse, as upstream. */
const selectedName = (query: URLSearchParams): string | undefined => {
  for (const option of ['limit', 'timeoutSeconds']) {
    const text = query.get(option);
    if (text !== null && !INTEGER.test(text)) return undefined;
  }
  try {
    parseLabelSelector(query.get('labelSelector') ?? '');
    const name = requiredFieldValue(parseFieldSelector(query.get('fieldSelector') ?? ''), 'metadata.name');
    return name !== undefined && isPathSegmentName(name) ? name : undefined;
  } catch (error) {
    if (error instanceof ReasonError) return undefined;
    throw error;
  }
};

const splitPath = (path: string): string[] => {
  let [from, to] = [0, path.length];
  while (from < to && path[from] === '/') from += 1;
  while (to > from && path[to - 1] === '/') to -= 1;
  return from === to ? [] : path.slice(from, to).split('/');
};

export interface RequestLine {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** For the message of a failure. */
  readonly url?: string;
}

export type RequestInfoError = ReasonError<'RequestInfo'>;
export const isRequestInfoError = (error: unknown): error is RequestInfoError =>
  hasReason(error, 'RequestInfo');

/** Upstream's RequestInfoFactory, case by case. Throws `RequestInfo` for a legacy verb without a resource. */
export const parseRequestInfo = ({ method, path, query, url = path }: RequestLine): RequestInfo => {
  const nonResource: RequestInfo = {
    isResourceRequest: false,
    path,
    verb: method.toLowerCase(),
    apiPrefix: '',
    apiGroup: '',
    apiVersion: '',
    namespace: '',
    resource: '',
    subresource: '',
    name: '',
    parts: [],
    fieldSelector: '',
    labelSelector: '',
  };
  let parts = splitPath(path);
  if (parts.length < 3) return nonResource;
  const apiPrefix = parts[0]!;
  if (!API_PREFIXES.has(apiPrefix)) return nonResource;
  parts = parts.slice(1);
  let apiGroup = '';
  if (!GROUPLESS_PREFIXES.has(apiPrefix)) {
    if (parts.length < 3) return { ...nonResource, apiPrefix };
    apiGroup = parts[0]!;
    parts = parts.slice(1);
  }
  const apiVersion = parts[0]!;
  parts = parts.slice(1);

  const verbInPath = PATH_VERBS.has(parts[0]!);
  let verb = verbInPath ? parts[0]! : (VERB_OF_METHOD[method] ?? '');
  if (verbInPath) {
    if (parts.length < 2)
      throw new ReasonError('RequestInfo', `unable to determine kind and namespace from url, ${url}`);
    parts = parts.slice(1);
  }

  let namespace = '';
  if (parts[0] === 'namespaces' && parts.length > 1) {
    namespace = parts[1]!;
    if (parts.length > 2 && !NAMESPACE_SUBRESOURCES.has(parts[2]!)) parts = parts.slice(2);
  }

  const [resource = '', nameInPath = ''] = parts;
  const subresource = PATH_VERBS_WITHOUT_SUBRESOURCES.has(verb) ? '' : (parts[2] ?? '');
  let name = nameInPath;
  if (name === '' && verb === 'get') {
    verb = isTrue(query.get('watch')) ? 'watch' : 'list';
    name = selectedName(query) ?? '';
  }
  if (name === '' && verb === 'delete') verb = 'deletecollection';

  // Legacy watch paths do not honour selectors everywhere, so authorizers must not rely on them there.
  const selects = !verbInPath && SELECTOR_VERBS.has(verb);
  return {
    isResourceRequest: true,
    path,
    verb,
    apiPrefix,
    apiGroup,
    apiVersion,
    namespace,
    resource,
    subresource,
    name,
    parts,
    fieldSelector: selects ? (query.get('fieldSelector') ?? '') : '',
    labelSelector: selects ? (query.get('labelSelector') ?? '') : '',
  };
};

const LONG_RUNNING_VERBS = new Set(['watch', 'proxy']);
const LONG_RUNNING_SUBRESOURCES = new Set(['attach', 'exec', 'proxy', 'log', 'portforward']);

/** Requests that may last: exempt from the time limit and from the count of requests in flight. */
export const isLongRunning = (info: RequestInfo): boolean =>
  info.isResourceRequest
    ? LONG_RUNNING_VERBS.has(info.verb) || LONG_RUNNING_SUBRESOURCES.has(info.subresource)
    : info.path.startsWith('/debug/pprof/');
