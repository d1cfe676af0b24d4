import net from 'node:net';
import { FileError } from './file-system.ts';
import type { Process } from './process.ts';

/** What a container may talk to: ranges such as 127.64.0.0/16, and itself. */
export type Networks = readonly string[];

export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  readonly code: 'ENETUNREACH' | 'ENOTFOUND';

  constructor(code: Unreachable['code'], message: string) {
    super(message);
    this.code = code;
  }
}

const HOSTS_FILE = '/etc/hosts';
const OWN_ADDRESS = '127.0.0.1';

const toNumber = (address: string): number =>
  address.split('.').reduce((value, part) => value * 256 + Number(part), 0);

export const isWithin = (address: string, networks: Networks): boolean =>
  networks.some((network) => {
    const [base = '', bits = '32'] = network.split('/');
    const size = 2 ** (32 - Number(bits));
    return Math.floor(toNumber(address) / size) === Math.floor(toNumber(base) / size);
  });

/** The address that the container's own hosts file has for a name; nothing else resolves names. */
const lookUp = ({ host }: Process, name: string): string | undefined => {
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

/**
 * The address behind a name or a literal, as the container sees it: its loopback is its own, and beyond the networks of
 * its cluster there is nothing. Throws Unreachable.
 */
export const reach = (process: Process, name: string): string => {
  const { host } = process;
  const literal = net.isIP(name.replace(/^\[|\]$/g, '')) === 0 ? lookUp(process, name) : name;
  if (literal === undefined) throw new Unreachable('ENOTFOUND', `bad address '${name}'`);
  if (literal === OWN_ADDRESS || literal === host.podIP) return host.podIP;
  if (net.isIPv4(literal) && isWithin(literal, host.networks)) return literal;
  throw new Unreachable('ENETUNREACH', `can't connect to remote host (${literal}): Network is unreachable`);
};
