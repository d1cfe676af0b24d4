import type { TLSSocket } from 'node:tls';
import type { X509Certificate } from 'node:crypto';
import { inspectDer } from '../pki/index.ts';
import { endsIn, type Anchors } from '../pki/anchors.ts';
import type { Caller } from './delegated-access.ts';

/** As `headersDistinct` has them: names in lower case, every value on its own. */
export type Headers = NodeJS.Dict<string[]>;

const AUTHENTICATED = 'system:authenticated';

/** Upstream's --requestheader-* flags: headers that a front proxy of these names may speak for a user with. */
export interface FrontProxyRules {
  /** Common names; empty: every certificate of the authorities. */
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

export const DEFAULT_FRONT_PROXY: FrontProxyRules = {
  allowedNames: [],
  usernameHeaders: ['x-remote-user'],
  uidHeaders: ['x-remote-uid'],
  groupHeaders: ['x-remote-group'],
  extraHeaderPrefixes: ['x-remote-extra-'],
};

/** Only what the handshake verified, and whose time is not over: a connection outlives a certificate. */
const verifiedCertificate = (socket: TLSSocket, nowMs: number): X509Certificate | undefined => {
  const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
  if (certificate === undefined) return undefined;
  const isCurrent = Date.parse(certificate.validFrom) <= nowMs && nowMs <= Date.parse(certificate.validTo);
  return isCurrent ? certificate : undefined;
};

const valuesOf = (headers: Headers, name: string): readonly string[] =>
  (headers[name.toLowerCase()] ?? []).filter((value) => value !== '');

const firstOf = (headers: Headers, names: readonly string[]): string =>
  names.flatMap((name) => valuesOf(headers, name))[0] ?? '';

const decodeKey = (encoded: string): string => {
  try {
    return decodeURIComponent(encoded);
  } catch {
    // As upstream: a key that does not decode is taken as it is.
    return encoded;
  }
};

const extraOf = (headers: Headers, prefixes: readonly string[]): Record<string, readonly string[]> => {
  const extra = new Map<string, readonly string[]>();
  for (const name of Object.keys(headers))
    for (const prefix of prefixes)
      if (name.startsWith(prefix.toLowerCase()))
        extra.set(decodeKey(name.slice(prefix.length)), valuesOf(headers, name));
  return Object.fromEntries(extra);
};

export interface CallerRules {
  readonly clients: Anchors;
  readonly frontProxies: Anchors;
  readonly frontProxy: FrontProxyRules;
}

export interface Presented {
  readonly socket: TLSSocket;
  readonly headers: Headers;
  readonly nowMs: number;
}

const frontProxyCaller = (
  certificate: X509Certificate,
  headers: Headers,
  { frontProxies, frontProxy }: CallerRules,
): Caller | undefined => {
  if (!endsIn(certificate, frontProxies)) return undefined;
  const { commonName } = inspectDer(certificate.raw).subject;
  const { allowedNames, usernameHeaders, uidHeaders, groupHeaders, extraHeaderPrefixes } = frontProxy;
  if (allowedNames.length > 0 && !allowedNames.includes(commonName)) return undefined;
  const name = firstOf(headers, usernameHeaders);
  if (name === '') return undefined;
  const groups = groupHeaders.flatMap((header) => valuesOf(headers, header));
  const uid = firstOf(headers, uidHeaders);
  return {
    name,
    ...(uid !== '' && { uid }),
    groups: groups.includes(AUTHENTICATED) ? groups : [...groups, AUTHENTICATED],
    extra: extraOf(headers, extraHeaderPrefixes),
  };
};

/** Whom a client certificate speaks for: the user a front proxy names, or its own subject. Upstream's order. */
export const certificateCaller = (
  { socket, headers, nowMs }: Presented,
  rules: CallerRules,
): Caller | undefined => {
  const certificate = verifiedCertificate(socket, nowMs);
  if (certificate === undefined) return undefined;
  const proxied = frontProxyCaller(certificate, headers, rules);
  if (proxied) return proxied;
  if (!endsIn(certificate, rules.clients)) return undefined;
  const { commonName, organizations } = inspectDer(certificate.raw).subject;
  return { name: commonName, groups: [...organizations, AUTHENTICATED] };
};
