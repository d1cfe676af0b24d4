import { isIPv4 } from 'node:net';
import * as der from './der.ts';
import { PkiError } from './errors.ts';

/** What an authority may vouch for. A key that is stolen signs nothing else that a client would accept. */
export interface PermittedNames {
  readonly dnsNames: readonly string[];
  /** IPv4 networks in CIDR form. */
  readonly networks: readonly string[];
}

export const OID_NAME_CONSTRAINTS = '2.5.29.30';
const TAG_DNS = 2;
const TAG_IP = 7;
const IPV4_BITS = 32;

/** RFC 5280, section 4.2.1.10: the address, then the mask. */
const networkBytes = (cidr: string): Buffer => {
  const [address = '', prefix = ''] = cidr.split('/');
  const bits = Number(prefix);
  if (!isIPv4(address) || !/^\d+$/.test(prefix) || bits > IPV4_BITS)
    throw new PkiError('Malformed', `${cidr} is not an IPv4 network`);
  const mask = Buffer.alloc(4);
  mask.writeUInt32BE(bits === 0 ? 0 : (0xffffffff << (IPV4_BITS - bits)) >>> 0);
  return Buffer.concat([Buffer.from(address.split('.').map(Number)), mask]);
};

export const encodeNameConstraints = (permitted: PermittedNames): der.Der => {
  const subtrees = [
    ...permitted.dnsNames.map((name) => der.implicit(TAG_DNS, Buffer.from(name, 'latin1'))),
    ...permitted.networks.map((network) => der.implicit(TAG_IP, networkBytes(network))),
  ];
  return der.sequence(
    der.implicit(
      0,
      subtrees.map((subtree) => der.sequence(subtree)),
    ),
  );
};
