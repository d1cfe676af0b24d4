import net from 'node:net';
import { FileError } from './file-system.ts';
import { isWithin } from './networks.ts';
import type { Process } from './process.ts';
import { addressesOf, resolveName, Unresolved } from './resolver.ts';

export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  readonly code: 'ENETUNREACH' | 'ENOTFOUND' | 'EHOSTUNREACH';

  constructor(code: Unreachable['code'], message: string) {
    super(message);
    this.code = code;
  }
}

const HOSTS_FILE = '/etc/hosts';
const OWN_ADDRESS = '127.0.0.1';

/** The address that the container's own hosts file has for a name. */
export const lookUp = ({ host }: Process, name: string): string | undefined => {
  let text: string;
  try {
    text = Buffer.from(host.fileSystem.read(HOSTS_FILE)).toString();
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return undefined;
  }
  for (const line of text.split('\n')) {
    const [address = '', ...names] = (line.split('#')[0] ?? '').trim().split(/\s+/);
    if (names.includes(name)) return address;
  }
  return undefined;
};

/** The address as the container sees it; undefined: beyond the networks of its cluster there is nothing. */
export const reachable = ({ host }: Process, address: string): string | undefined => {
  if (address === OWN_ADDRESS || address === host.podIP) return host.podIP;
  return net.isIPv4(address) && isWithin(address, host.networks) ? address : undefined;
};

/** Throws Unreachable where a NetworkPolicy denies it. */
export const assertMayConnect = async (
  { host }: Process,
  to: { readonly protocol: 'TCP' | 'UDP'; readonly address: string; readonly port: number },
): Promise<void> => {
  const judgement = await host.mayConnect?.(to);
  if (judgement && !judgement.isAllowed)
    throw new Unreachable(
      'EHOSTUNREACH',
      `can't connect to remote host (${to.address}): ${judgement.reason ?? 'denied'}`,
    );
};

const isLiteral = (name: string): boolean => net.isIP(name.replace(/^\[|\]$/g, '')) !== 0;

const lookUpDns = async (process: Process, name: string): Promise<string | undefined> => {
  try {
    return addressesOf(await resolveName(process, name))[0];
  } catch (error) {
    if (error instanceof Unresolved) return undefined;
    throw error;
  }
};

/**
 * The address behind a name or a literal, as the container sees it: its loopback is its own, names are those of its
 * hosts file and of its nameservers. Throws Unreachable.
 */
export const reach = async (process: Process, name: string): Promise<string> => {
  const literal = isLiteral(name) ? name : (lookUp(process, name) ?? (await lookUpDns(process, name)));
  if (literal === undefined) throw new Unreachable('ENOTFOUND', `bad address '${name}'`);
  const address = reachable(process, literal);
  if (address !== undefined) return address;
  throw new Unreachable('ENETUNREACH', `can't connect to remote host (${literal}): Network is unreachable`);
};
