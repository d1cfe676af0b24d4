import { inspectDer } from '../../pki/index.ts';
import type { RequestHeaders } from '../server/headers.ts';
import type { Authenticator } from './authenticator.ts';
import type { ClientAuthorities } from './client-authorities.ts';
import { userInfo } from '../server/user.ts';

/** Upstream's --requestheader-* flags. */
export interface FrontProxyOptions {
  readonly authorities: ClientAuthorities;
  /** Common names that may act as a front proxy; empty: any certificate of the authorities. */
  readonly allowedNames?: readonly string[];
  readonly usernameHeaders?: readonly string[];
  readonly uidHeaders?: readonly string[];
  readonly groupHeaders?: readonly string[];
  readonly extraHeaderPrefixes?: readonly string[];
}

const DEFAULTS = {
  usernameHeaders: ['x-remote-user'],
  uidHeaders: ['x-remote-uid'],
  groupHeaders: ['x-remote-group'],
  extraHeaderPrefixes: ['x-remote-extra-'],
} as const;

/** Header names carry keys percent-encoded; what does not decode is taken as it is. */
export const unescapeExtraKey = (encoded: string): string => {
  try {
    return decodeURIComponent(encoded);
  } catch (error) {
    if (error instanceof URIError) return encoded;
    throw error;
  }
};

export const extraFrom = (headers: RequestHeaders, prefixes: readonly string[]): Record<string, string[]> => {
  const extra: Record<string, string[]> = {};
  for (const [name, values] of headers.entries())
    for (const prefix of prefixes)
      if (name.startsWith(prefix.toLowerCase()))
        (extra[unescapeExtraKey(name.slice(prefix.length))] ??= []).push(...values);
  return extra;
};

const lower = (names: readonly string[]): string[] => names.map((name) => name.toLowerCase());

/** Believes the identity in the headers, when a trusted proxy sent them. */
export const frontProxyAuthenticator = (options: FrontProxyOptions): Authenticator => {
  const { authorities, allowedNames = [] } = options;
  const names = { ...DEFAULTS, ...options };
  const first = (headers: RequestHeaders, candidates: readonly string[]): string =>
    candidates.map((name) => headers.get(name)).find((value) => value !== undefined && value !== '') ?? '';
  return {
    name: 'front-proxy',
    authenticate({ headers, peer }) {
      const certificate = authorities.verified(peer);
      if (!certificate) return undefined;
      const { commonName } = inspectDer(certificate.raw).subject;
      if (allowedNames.length > 0 && !allowedNames.includes(commonName)) return undefined;
      const name = first(headers, names.usernameHeaders);
      if (name === '') return undefined;
      return userInfo(
        name,
        names.groupHeaders.flatMap((header) => headers.all(header)),
        { uid: first(headers, names.uidHeaders), extra: extraFrom(headers, names.extraHeaderPrefixes) },
      );
    },
  };
};

/** No one behind authentication may mistake these for the truth. Made once for all requests. */
export const frontProxyHeaderCleaner = (
  options?: Partial<FrontProxyOptions>,
): ((headers: RequestHeaders) => void) => {
  const sets = [DEFAULTS, { ...DEFAULTS, ...options }];
  const names = new Set(
    lower(
      sets.flatMap(({ usernameHeaders, uidHeaders, groupHeaders }) => [
        ...usernameHeaders,
        ...uidHeaders,
        ...groupHeaders,
      ]),
    ),
  );
  const prefixes = [...new Set(lower(sets.flatMap(({ extraHeaderPrefixes }) => extraHeaderPrefixes)))];
  return (headers) => {
    // A map may lose entries while it is walked.
    for (const [name] of headers.entries())
      if (names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))) headers.delete(name);
  };
};
