import type { IncomingHttpHeaders } from 'node:http';
import type { RequestContext } from '../server/context.ts';

/** Of one connection and not of the message (RFC 9110, section 7.6.1). */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
]);

/** The client's credentials, which are for this server alone, and what the new request says of itself. */
const OURS = new Set(['authorization', 'host', 'content-length', 'expect']);
const IMPERSONATION_PREFIX = 'impersonate-';

/** A backend must not open this server's origin to scripts of another. */
const CORS_HEADERS = new Set([
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
]);

const tokensOf = (values: readonly string[]): string[] =>
  values.flatMap((value) => value.split(',')).map((token) => token.trim().toLowerCase());

/** What of a client's request continues to a backend. */
export const forwardedHeaders = ({ request }: RequestContext): Record<string, string[]> => {
  const { headers, peer } = request;
  const named = new Set(tokensOf(headers.all('connection')));
  const forwarded: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const [name, values] of headers.entries()) {
    if (HOP_BY_HOP.has(name) || OURS.has(name) || named.has(name)) continue;
    if (!name.startsWith(IMPERSONATION_PREFIX)) forwarded[name] = [...values];
  }
  if (peer.address !== '')
    forwarded['x-forwarded-for'] = [[...headers.all('x-forwarded-for'), peer.address].join(', ')];
  return forwarded;
};

/** What of a backend's answer goes back to the client. */
export function* returnedHeaders(headers: IncomingHttpHeaders): Generator<[string, string | string[]]> {
  const named = new Set(tokensOf(headers.connection === undefined ? [] : [headers.connection]));
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !HOP_BY_HOP.has(name) && !CORS_HEADERS.has(name) && !named.has(name))
      yield [name, value];
}
