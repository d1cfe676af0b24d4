import type { IncomingHttpHeaders } from 'node:http';

const COOKIE_HEADER_CHARACTERS_MAX = 8192;

/**
 * Cookies are shared by all ports of a host, so the port is in the name: two consoles on one machine must not
 * sign each other out. `__Host-` makes browsers insist on Secure, Path=/ and no Domain.
 */
export const sessionCookieName = (port: number): string => `__Host-pilothouse-${port}`;

export const sessionCookie = (port: number, session: string): string =>
  `${sessionCookieName(port)}=${session}; Path=/; Secure; HttpOnly; SameSite=Strict`;

export const readCookie = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const header = headers.cookie ?? '';
  if (header.length > COOKIE_HEADER_CHARACTERS_MAX) return undefined;
  for (const part of header.split(';')) {
    const at = part.indexOf('=');
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
};

/** A name that a foreign site points at 127.0.0.1 (DNS rebinding) is not one of ours. */
export const isOwnHost = (headers: IncomingHttpHeaders, port: number): boolean =>
  headers.host === `127.0.0.1:${port}` || headers.host === `localhost:${port}`;

/** The page that asks was served by us, under the very name it asks now. */
export const isOwnOrigin = (headers: IncomingHttpHeaders): boolean =>
  headers.origin === `https://${headers.host}`;

/**
 * Whether another page asks for something of ours. Browsers say so themselves; it matters because every port
 * of 127.0.0.1 counts as the same site, so SameSite alone does not keep other local pages out.
 */
export const isForeignFetch = (headers: IncomingHttpHeaders): boolean => {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return false;
  return headers['sec-fetch-mode'] !== 'navigate' || headers['sec-fetch-dest'] !== 'document';
};

/**
 * Browsers open connections ahead of what they will ask. One on which nothing came in time is told 408, upon which its browser
 * asks on another one; 400 would be taken for the answer to a request that was on its way.
 */
export const statusOfClientError = (error: NodeJS.ErrnoException): string =>
  error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? '408 Request Timeout' : '400 Bad Request';
