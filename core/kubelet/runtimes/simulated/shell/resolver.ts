import { randomInt } from 'node:crypto';
import { messageOf } from '../../../../base/errors.ts';
import { exchange, ExchangeError, type DnsServerAddress } from '../../../../dns/exchange/exchange.ts';
import {
  CLASS_IN,
  isWireError,
  labelsOf,
  message,
  RCODE,
  TYPE,
  type Message,
} from '../../../../dns/wire/index.ts';
import { FileError } from './file-system.ts';
import { isWithin } from './networks.ts';
import { Killed, type Process } from './process.ts';

const RESOLV_CONF = '/etc/resolv.conf';
const DNS_PORT = 53;
/** glibc's bounds. */
const SERVERS_MAX = 3;
const NDOTS_MAX = 15;
const TIMEOUT_SECONDS_MAX = 30;
const ATTEMPTS_MAX = 5;
const IDS = 65_536;

export interface ResolverConfig {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly ndots: number;
  readonly timeoutMs: number;
  readonly attempts: number;
}

/** A resolv.conf as the C library reads it: the last `search` wins, `nameserver` lines add up. */
export const parseResolvConf = (text: string): ResolverConfig => {
  const servers: string[] = [];
  let searches: readonly string[] = [];
  const options = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [keyword, ...words] = line
      .replace(/[#;].*$/, '')
      .trim()
      .split(/\s+/);
    if (keyword === 'nameserver' && words[0] !== undefined) servers.push(words[0]);
    if (keyword === 'search')
      searches = words.map((word) => word.replace(/\.$/, '')).filter((word) => word !== '');
    if (keyword === 'options')
      for (const word of words) {
        const [name = '', value = ''] = word.split(':');
        if (/^\d+$/.test(value)) options.set(name, Number(value));
      }
  }
  const option = (name: string, fallback: number, max: number): number =>
    Math.min(max, options.get(name) ?? fallback);
  return {
    servers: servers.slice(0, SERVERS_MAX),
    searches,
    ndots: option('ndots', 1, NDOTS_MAX),
    timeoutMs: Math.max(1, option('timeout', 5, TIMEOUT_SECONDS_MAX)) * 1000,
    attempts: Math.max(1, option('attempts', 2, ATTEMPTS_MAX)),
  };
};

/** The names that are tried in turn, all absolute. */
export const candidates = (name: string, { searches, ndots }: ResolverConfig): readonly string[] => {
  if (name.endsWith('.')) return [name];
  const searched = searches.map((search) => `${name}.${search}.`);
  const asIs = `${name}.`;
  return name.split('.').length - 1 >= ndots ? [asIs, ...searched] : [...searched, asIs];
};

export const readResolvConf = ({ host }: Process): ResolverConfig => {
  try {
    return parseResolvConf(Buffer.from(host.fileSystem.read(RESOLV_CONF)).toString());
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return parseResolvConf('');
  }
};

/** What a lookup came to. */
export interface Resolved {
  /** The name that was found, or the last one that was tried. */
  readonly name: string;
  readonly server: string;
  readonly answer: Message;
}

/** No server answered; `NXDOMAIN` is an answer. */
export class Unresolved extends Error {
  override readonly name = 'Unresolved';
}

const isName = (name: string): boolean => {
  try {
    return labelsOf(name).length > 0;
  } catch (error) {
    if (!isWireError(error)) throw error;
    return false;
  }
};

/**
 * Where a nameserver is really asked. Where port 53 of the cluster's DNS address cannot be opened without root, its
 * servers have a port of their own, which anyone may open.
 */
const placesOf = ({ host }: Process, server: string): readonly DnsServerAddress[] => [
  { host: server, port: DNS_PORT },
  ...(host.dns?.service === server ? host.dns.endpoints : []),
];

const askServer = async (
  process: Process,
  server: string,
  question: { readonly name: string; readonly type: number },
  timeoutMs: number,
): Promise<Message> => {
  const { host, signal } = process;
  let failure: unknown;
  for (const place of placesOf(process, server)) {
    const query = message({
      id: randomInt(IDS),
      isRecursionDesired: true,
      questions: [{ ...question, class: CLASS_IN }],
    });
    try {
      return await exchange(place, query, { clock: host.clock, timeoutMs, signal, localAddress: host.podIP });
    } catch (error) {
      if (signal.aborted) throw new Killed('killed');
      failure = error;
      if (!(error instanceof ExchangeError) || error.reason === 'Timeout') break;
    }
  }
  throw failure;
};

const askAny = async (
  process: Process,
  { servers, timeoutMs, attempts }: ResolverConfig,
  question: { readonly name: string; readonly type: number },
): Promise<{ readonly server: string; readonly answer: Message }> => {
  let why = 'no nameserver';
  let failed: { server: string; answer: Message } | undefined;
  for (let attempt = 0; attempt < attempts; attempt += 1)
    for (const server of servers) {
      if (!isWithin(server, process.host.networks)) {
        why = `${server}: Network is unreachable`;
        continue;
      }
      const judgement = await process.host.mayConnect?.({ protocol: 'UDP', address: server, port: DNS_PORT });
      if (judgement && !judgement.isAllowed) {
        why = `${server}: ${judgement.reason ?? 'denied'}`;
        continue;
      }
      try {
        const answer = await askServer(process, server, question, timeoutMs);
        if (answer.rcode === RCODE.NOERROR || answer.rcode === RCODE.NXDOMAIN) return { server, answer };
        // The server cannot tell: another may.
        failed = { server, answer };
      } catch (error) {
        if (error instanceof Killed) throw error;
        why = `${server}: ${messageOf(error)}`;
      }
    }
  if (failed) return failed;
  throw new Unresolved(why);
};

/**
 * Looks a name up as the C library does: search paths and ndots of the container's own resolv.conf, its nameservers in
 * turn. Throws Unresolved when none of them answers.
 */
export const resolveName = async (
  process: Process,
  name: string,
  type: number = TYPE.A,
  servers?: readonly string[],
): Promise<Resolved> => {
  const own = readResolvConf(process);
  const config = servers ? { ...own, servers } : own;
  let last: Resolved | undefined;
  for (const candidate of candidates(name, config).filter(isName)) {
    const { server, answer } = await askAny(process, config, { name: candidate, type });
    const resolved = { name: candidate, server, answer };
    if (answer.answers.length > 0) return resolved;
    // A name that exists without such a record ends the search only where nothing better is found.
    if (!last || answer.rcode === RCODE.NOERROR) last = resolved;
  }
  if (last) return last;
  throw new Unresolved(`${name} is not a name`);
};

/** IPv4 addresses of a name, in the order in which they came. */
export const addressesOf = ({ answer }: Resolved): readonly string[] =>
  answer.answers.flatMap(({ type, data }) =>
    type === TYPE.A && data.kind === 'address' ? [data.address] : [],
  );
