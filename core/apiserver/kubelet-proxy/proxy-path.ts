import { posix } from 'node:path';
import { badRequest } from '../../api/meta/index.ts';

/** Bytes that end a request line or a header, or that no URL holds. */
const CONTROL = /[\x00-\x1f\x7f]/;
/** What Go's `url.URL.EscapedPath` writes as it is; every other byte becomes `%XX`. */
const ESCAPED = /[^A-Za-z0-9\-_.~$&+,/:;=@]/gu;

/** A decoded path as it may stand in a request line. */
export const escapePath = (path: string): string =>
  path.replace(ESCAPED, (character) =>
    [...Buffer.from(character, 'utf8')]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
      .join(''),
  );

/** Joins as Go's `path.Join` does, which also resolves `..`; a slash at the end stays. */
const joinPath = (...parts: readonly string[]): string => {
  const joined = posix.join(...parts);
  return parts.at(-1)?.endsWith('/') && !joined.endsWith('/') ? `${joined}/` : joined;
};

/** The query as the client sent it, with its question mark. */
export const rawQueryOf = (url: string): string => {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark);
};

/**
 * What a backend is asked for: the decoded rest of the request's path, cleaned and escaped again. Empty where the
 * client named the proxy without a slash. Throws BadRequest for control characters: none belongs in a URL, and CR LF
 * in a request line would begin another request.
 */
export const proxiedPath = (subpath: string, url: string): string => {
  const query = rawQueryOf(url);
  if (CONTROL.test(subpath) || CONTROL.test(query))
    throw badRequest('the path and query of a proxied request must not contain control characters');
  return subpath === '' ? '' : `${escapePath(joinPath('/', subpath))}${query}`;
};

const URL_PARTS = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/;

export interface LocationContext {
  /** The path of this server up to where the proxied part begins. */
  readonly prefix: string;
  /** The backend's host and port. */
  readonly backendHost: string;
  /** What the client calls this server. */
  readonly requestHost: string;
}

/** A backend's redirect to itself leads through the proxy again; one to elsewhere is left alone, as upstream. */
export const rewriteLocation = (
  location: string,
  { prefix, backendHost, requestHost }: LocationContext,
): string => {
  const [, scheme = '', host = '', path = '', query = '', fragment = ''] = URL_PARTS.exec(location) ?? [];
  const isElsewhere = host !== '' && host !== backendHost && host !== requestHost;
  if (isElsewhere || !path.startsWith('/')) return location;
  const origin = host !== '' && host === requestHost ? `${scheme === '' ? '' : `${scheme}:`}//${host}` : '';
  const rewritten = path.startsWith(prefix) ? path : joinPath(prefix, path);
  return `${origin}${rewritten}${query}${fragment}`;
};
