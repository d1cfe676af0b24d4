import { goQuote } from '../values/go-text.ts';

/** A URL as Go's net/url reads it. Paths and hosts are kept as byte strings: escapes may stand for any bytes. */
export interface GoUrl {
  readonly scheme: string;
  readonly opaque: string;
  readonly user: string | undefined;
  readonly host: string;
  readonly rawPath: string;
  readonly query: string;
  readonly fragment: string | undefined;
  readonly hasQueryMark: boolean;
}

/** Thrown by the parser with the text that Go has for it. */
class UrlError extends Error {
  override readonly name = 'UrlError';
}
const fail = (message: string): never => {
  throw new UrlError(message);
};

const toBytes = (text: string): string =>
  /^[\x00-\x7f]*$/.test(text)
    ? text
    : Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
const fromBytes = (bytes: string): string =>
  /^[\x00-\x7f]*$/.test(bytes)
    ? bytes
    : new TextDecoder().decode(Uint8Array.from(bytes, (character) => character.charCodeAt(0)));

type Place = 'path' | 'host' | 'query' | 'user' | 'fragment';

const UNRESERVED = /[A-Za-z0-9\-_.~]/;
const HOST_ALLOWED = `!$&'()*+,;=:[]<>"`;
const PATH_ALLOWED = '$&+,/:;=@';

/** Go escapes what is not listed for a place. */
const mustEscape = (character: string, place: Place): boolean => {
  if (UNRESERVED.test(character)) return false;
  if (place === 'host' && HOST_ALLOWED.includes(character)) return false;
  if (place === 'path') return !PATH_ALLOWED.includes(character);
  return true;
};

const escapePath = (path: string): string =>
  Array.from(path, (character) =>
    mustEscape(character, 'path')
      ? `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
      : character,
  ).join('');

const HEX_PAIR = /^[0-9a-fA-F]{2}$/;

const unescape = (text: string, place: Place): string => {
  let result = '';
  for (let at = 0; at < text.length;) {
    const character = text[at]!;
    if (character === '%') {
      const pair = text.slice(at + 1, at + 3);
      if (!HEX_PAIR.test(pair)) fail(`invalid URL escape ${goQuote(text.slice(at, at + 3))}`);
      const value = Number.parseInt(pair, 16);
      if (place === 'host' && value < 0x80 && pair !== '25')
        fail(`invalid URL escape ${goQuote(`%${pair}`)}`);
      result += String.fromCharCode(value);
      at += 3;
      continue;
    }
    if (place === 'host' && character.charCodeAt(0) < 0x80 && mustEscape(character, 'host'))
      fail(`invalid character ${goQuote(character)} in host name`);
    result += place === 'query' && character === '+' ? ' ' : character;
    at++;
  }
  return result;
};

const isPort = (text: string): boolean => /^(?::[0-9]*)?$/.test(text);

const parseHost = (host: string): string => {
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']');
    if (end < 0) fail("missing ']' in host");
    const port = host.slice(end + 1);
    if (!isPort(port)) fail(`invalid port ${goQuote(port)} after host`);
    return unescape(host, 'host');
  }
  const colon = host.lastIndexOf(':');
  if (colon >= 0) {
    const port = host.slice(colon);
    if (!isPort(port)) fail(`invalid port ${goQuote(port)} after host`);
  }
  return unescape(host, 'host');
};

const USER = /^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/;

const parseAuthority = (authority: string): { user: string | undefined; host: string } => {
  const at = authority.lastIndexOf('@');
  const host = parseHost(authority.slice(at + 1));
  if (at < 0) return { user: undefined, host };
  const user = authority.slice(0, at);
  if (!USER.test(user)) fail('net/url: invalid userinfo');
  unescape(user, 'user');
  return { user, host };
};

const splitScheme = (text: string): readonly [string, string] => {
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (/[A-Za-z]/.test(character)) continue;
    if (/[0-9+\-.]/.test(character)) {
      if (at === 0) return ['', text];
      continue;
    }
    if (character !== ':') return ['', text];
    if (at === 0) fail('missing protocol scheme');
    return [text.slice(0, at).toLowerCase(), text.slice(at + 1)];
  }
  return ['', text];
};

const cut = (text: string, separator: string): readonly [string, string | undefined] => {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
};

const parseAbsolute = (text: string, fragment: string | undefined): GoUrl => {
  if (/[\x00-\x1f\x7f]/.test(text)) fail('net/url: invalid control character in URL');
  if (text === '') fail('empty url');
  const empty = {
    scheme: '',
    opaque: '',
    user: undefined,
    host: '',
    query: '',
    fragment,
    hasQueryMark: false,
  };
  if (text === '*') return { ...empty, rawPath: '*' };
  const [scheme, afterScheme] = splitScheme(text);
  const [rest, query] = cut(afterScheme, '?');
  const common = { ...empty, scheme, query: query ?? '', hasQueryMark: query === '' };
  if (!rest.startsWith('/')) {
    if (scheme === '') fail('invalid URI for request');
    return { ...common, opaque: rest, rawPath: '' };
  }
  let path = rest;
  let authority: { user: string | undefined; host: string } = { user: undefined, host: '' };
  if (scheme !== '' && rest.startsWith('//')) {
    const slash = rest.indexOf('/', 2);
    authority = parseAuthority(slash < 0 ? rest.slice(2) : rest.slice(2, slash));
    path = slash < 0 ? '' : rest.slice(slash);
  }
  unescape(path, 'path');
  return { ...common, ...authority, rawPath: path };
};

/** An absolute URL, or why the text is none. */
export const parseUrl = (text: string): GoUrl | string => {
  const bytes = toBytes(text);
  try {
    // A fragment counts as part of the path for this check, and is set apart afterwards.
    parseAbsolute(bytes, undefined);
    const [withoutFragment, fragment] = cut(bytes, '#');
    return parseAbsolute(withoutFragment, fragment);
  } catch (thrown) {
    if (thrown instanceof UrlError) return `parse ${goQuote(text)}: ${thrown.message}`;
    throw thrown;
  }
};

const VALID_PATH = /^[A-Za-z0-9\-_.~!$&'()*+,;=:@/[\]%]*$/;

export const escapedPath = ({ rawPath }: GoUrl): string => {
  if (rawPath === '*' || VALID_PATH.test(rawPath)) return rawPath;
  return escapePath(unescape(rawPath, 'path'));
};

export const hostOf = ({ host }: GoUrl): string => fromBytes(host);

const splitPort = (host: string): readonly [string, string] => {
  const colon = host.lastIndexOf(':');
  return colon >= 0 && isPort(host.slice(colon)) ? [host.slice(0, colon), host.slice(colon + 1)] : [host, ''];
};
export const hostnameOf = ({ host }: GoUrl): string => {
  const [name] = splitPort(host);
  return fromBytes(name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name);
};
export const portOf = ({ host }: GoUrl): string => splitPort(host)[1];

/** The values of each parameter; what cannot be read is left out. */
export const queryOf = ({ query }: GoUrl): Map<string, string[]> => {
  const values = new Map<string, string[]>();
  for (const pair of query.split('&')) {
    if (pair === '' || pair.includes(';')) continue;
    const [key, value = ''] = cut(pair, '=');
    try {
      const name = fromBytes(unescape(key, 'query'));
      values.set(name, [...(values.get(name) ?? []), fromBytes(unescape(value, 'query'))]);
    } catch (thrown) {
      if (!(thrown instanceof UrlError)) throw thrown;
    }
  }
  return values;
};

/** The URL as text, by which URLs are compared. */
export const urlText = (url: GoUrl): string => {
  const { scheme, opaque, user, host, query, fragment, hasQueryMark } = url;
  const start = scheme === '' ? '' : `${scheme}:`;
  const authority =
    scheme !== '' || host !== '' || user !== undefined
      ? `//${user === undefined ? '' : `${user}@`}${host}`
      : '';
  const body = opaque === '' ? `${authority}${escapedPath(url)}` : opaque;
  const tail = query === '' ? (hasQueryMark ? '?' : '') : `?${query}`;
  return fromBytes(
    `${start}${body}${tail}${fragment === undefined || fragment === '' ? '' : `#${fragment}`}`,
  );
};
