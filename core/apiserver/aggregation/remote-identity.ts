import type { UserInfo } from '../server/user.ts';

/** Characters that a header's name may have (RFC 9110, section 5.6.2). */
const TOKEN = /[!#$&'*+\-.^_`|~0-9A-Za-z]/;
const FORBIDDEN = /[\x00-\x08\x0a-\x1f\x7f]/;

/** Keys of extra facts stand in names of headers, so what no name may hold is written as `%XX`. */
export const escapeExtraKey = (key: string): string =>
  [...Buffer.from(key, 'utf8')]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      return TOKEN.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');

/** Node writes headers as Latin-1: so the bytes of UTF-8 arrive as Go sends them. */
const wire = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/**
 * Whom a request to another server is for. The server believes these headers because this server's certificate says
 * that it is a front proxy. Undefined for a name that no header can carry.
 */
export const remoteIdentity = ({
  name,
  uid,
  groups,
  extra,
}: UserInfo): Record<string, readonly string[]> | undefined => {
  const facts = Object.entries(extra);
  if ([name, uid, ...groups, ...facts.flatMap(([, values]) => values)].some((text) => FORBIDDEN.test(text)))
    return undefined;
  return {
    'x-remote-user': [wire(name)],
    ...(uid !== '' && { 'x-remote-uid': [wire(uid)] }),
    ...(groups.length > 0 && { 'x-remote-group': groups.map(wire) }),
    ...Object.fromEntries(
      facts.map(([key, values]) => [`x-remote-extra-${escapeExtraKey(key).toLowerCase()}`, values.map(wire)]),
    ),
  };
};

export const isIdentityHeader = (name: string): boolean => name.startsWith('x-remote-');
