import type { Sized, UnitEquality } from '../cost/runtime.ts';
import { BOOL, INT, STRING, opaqueOf } from '../types/type.ts';
import type { SelfEqual } from '../values/compare.ts';
import { goQuote } from '../values/go-text.ts';
import { CelError, CelObject, NO_SUCH_OVERLOAD, type Value, error } from '../values/value.ts';
import { type Library, global, member } from './declare.ts';
import { type Address, addressText, isV4, isV4InV6, parseAddress } from './ip-address.ts';

export const IP_TYPE = opaqueOf('net.IP');

export class CelIp extends CelObject implements SelfEqual, Sized, UnitEquality {
  readonly type = IP_TYPE;
  readonly hasUnitEquality = true;
  readonly address: Address;

  constructor(address: Address) {
    super();
    this.address = address;
  }
  get sizeForCost(): number {
    return this.address.bytes.length;
  }
  equals(other: Value): boolean | CelError {
    if (!(other instanceof CelIp)) return other instanceof CelError ? other : NO_SUCH_OVERLOAD;
    return addressText(this.address) === addressText(other.address);
  }
}

export const parseIp = (text: string): CelIp | CelError => {
  const address = parseAddress(text);
  if (typeof address === 'string')
    return error(`IP Address ${goQuote(text)} parse error during conversion from string: ${address}`);
  if (address.zone !== '') return error(`IP address ${goQuote(text)} with zone value is not allowed`);
  if (isV4InV6(address)) return error(`IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`);
  return new CelIp(address);
};

const isUnspecified = ({ bytes }: Address): boolean => bytes.every((byte) => byte === 0);
const isLoopback = (address: Address): boolean =>
  isV4(address) ? address.bytes[0] === 127 : address.bytes.every((byte, at) => byte === (at === 15 ? 1 : 0));
const isMulticast = (address: Address): boolean =>
  isV4(address) ? (address.bytes[0]! & 0xf0) === 0xe0 : address.bytes[0] === 0xff;
const isLinkLocalMulticast = (address: Address): boolean => {
  const [first, second, third] = address.bytes;
  return isV4(address)
    ? first === 224 && second === 0 && third === 0
    : first === 0xff && (second! & 0x0f) === 2;
};
const isLinkLocalUnicast = (address: Address): boolean => {
  const [first, second] = address.bytes;
  return isV4(address) ? first === 169 && second === 254 : first === 0xfe && (second! & 0xc0) === 0x80;
};
const isGlobalUnicast = (address: Address): boolean =>
  !isUnspecified(address) &&
  !(isV4(address) && address.bytes.every((byte) => byte === 255)) &&
  !isLoopback(address) &&
  !isMulticast(address) &&
  !isLinkLocalUnicast(address);

const isCanonical = (text: string): Value => {
  const ip = parseIp(text);
  return ip instanceof CelError ? ip : addressText(ip.address) === text;
};

const property = (fn: string, id: string, holds: (address: Address) => boolean) =>
  member([fn, id, [IP_TYPE], BOOL], ({ address }: CelIp) => holds(address));

/** IP addresses. */
export const KUBERNETES_IP: Library = {
  name: 'kubernetes.net.ip',
  types: [IP_TYPE],
  overloads: [
    global(['ip', 'string_to_ip', [STRING], IP_TYPE], parseIp),
    member(['family', 'ip_family', [IP_TYPE], INT], ({ address }: CelIp) => (isV4(address) ? 4 : 6)),
    global(['ip.isCanonical', 'ip_is_canonical', [STRING], BOOL], isCanonical),
    property('isUnspecified', 'ip_is_unspecified', isUnspecified),
    property('isLoopback', 'ip_is_loopback', isLoopback),
    property('isLinkLocalMulticast', 'ip_is_link_local_multicast', isLinkLocalMulticast),
    property('isLinkLocalUnicast', 'ip_is_link_local_unicast', isLinkLocalUnicast),
    property('isGlobalUnicast', 'ip_is_global_unicast', isGlobalUnicast),
    global(['isIP', 'is_ip', [STRING], BOOL], (text: string) => parseIp(text) instanceof CelIp),
    global(['string', 'ip_to_string', [IP_TYPE], STRING], ({ address }: CelIp) => addressText(address)),
  ],
};
