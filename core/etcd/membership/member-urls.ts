import { MembershipError } from './types.ts';

const bad = (message: string): MembershipError => new MembershipError('BadURLs', message);

/** scheme://host:port with nothing behind; the host may be a bracketed IPv6 address. */
const HOST_AND_PORT = /^(?:\[[0-9a-fA-F:.%]+\]|[^:[\]]+):\d{1,5}$/;

/** Throws BadURLs with etcd's text for each way in which a URL of a member can be wrong. */
export const checkMemberUrl = (text: string): string => {
  const url = text.trim();
  const [, scheme, rest] = /^([a-z]+):\/\/(.*)$/i.exec(url) ?? [];
  if (scheme === undefined || rest === undefined || !['http', 'https'].includes(scheme.toLowerCase())) {
    throw bad(`URL scheme must be http or https: ${url}`);
  }
  const slash = rest.search(/[/?#]/);
  const authority = slash < 0 ? rest : rest.slice(0, slash);
  if (!HOST_AND_PORT.test(authority)) throw bad(`URL address does not have the form "host:port": ${url}`);
  if (slash >= 0) throw bad(`URL must not contain a path: ${url}`);
  return url;
};

/** Checked and sorted. At least one is needed. */
export const checkMemberUrls = (texts: readonly string[]): string[] => {
  if (texts.length === 0) throw bad('no valid URLs given');
  return texts.map(checkMemberUrl).sort();
};
