import type { Sized, UnitEquality } from '../cost/runtime.ts';
import { BOOL, INT, STRING, opaqueOf } from '../types/type.ts';
import type { SelfEqual } from '../values/compare.ts';
import { goQuote } from '../values/go-text.ts';
import { CelError, CelObject, NO_SUCH_OVERLOAD, type Value, error } from '../values/value.ts';
import { type Library, global, member } from './declare.ts';
import { type Address, addressText, isV4, isV4InV6, parseAddress } from './ip-address.ts';
import { CelIp, IP_TYPE, parseIp } from './ip.ts';

export const CIDR_TYPE = opaqueOf('net.CIDR');

class CelCidr extends CelObject implements SelfEqual, Sized, UnitEquality {
  readonly type = CIDR_TYPE;
  readonly hasUnitEquality = true;
  readonly address: Address;
  readonly bits: number;

  constructor(address: Address, bits: number) {
    super();
    this.address = address;
    this.bits = bits;
  }
  get sizeForCost(): number {
    return Math.ceil(this.bits / 8);
  }
  get text(): string {
    return `${addressText(this.address)}/${this.bits}`;
  }
  equals(other: Value): boolean | CelError {
    if (!(other instanceof CelCidr)) return other instanceof CelError ? other : NO_SUCH_OVERLOAD;
    return this.text === other.text;
  }
}

const masked = (address: Address, bits: number): Address => ({
  zone: '',
  bytes: address.bytes.map((byte, at) => {
    const kept = Math.min(8, Math.max(0, bits - at * 8));
    return byte & (0xff << (8 - kept));
  }),
});

const parsePrefix = (text: string): CelCidr | string => {
  const fail = (message: string): string => `netip.ParsePrefix(${goQuote(text)}): ${message}`;
  const slash = text.lastIndexOf('/');
  if (slash < 0) return fail("no '/'");
  const address = parseAddress(text.slice(0, slash));
  if (typeof address === 'string') return fail(address);
  if (address.zone !== '') return fail('IPv6 zones cannot be present in a prefix');
  const written = text.slice(slash + 1);
  if (!/^(?:[0-9]|[1-9][0-9]{1,9})$/.test(written)) return fail(`bad bits after slash: ${goQuote(written)}`);
  const bits = Number(written);
  return bits > address.bytes.length * 8 ? fail('prefix length out of range') : new CelCidr(address, bits);
};

const PARSE_FAILED = 'network address parse error during conversion from string: ';

const parseCidr = (text: string): CelCidr | CelError => {
  const prefix = parsePrefix(text);
  if (typeof prefix === 'string') return error(`${PARSE_FAILED}${PARSE_FAILED}${prefix}`);
  if (isV4InV6(prefix.address))
    return error(`${PARSE_FAILED}IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`);
  return prefix;
};

const covers = ({ address, bits }: CelCidr, other: Address): boolean =>
  isV4(address) === isV4(other) && addressText(masked(address, bits)) === addressText(masked(other, bits));

const containsIp = (cidr: CelCidr, ip: CelIp | CelError): Value =>
  ip instanceof CelError ? NO_SUCH_OVERLOAD : covers(cidr, ip.address);
const containsCidr = (cidr: CelCidr, other: CelCidr | CelError): Value =>
  other instanceof CelError ? other : cidr.bits <= other.bits && covers(cidr, other.address);

/** Ranges of IP addresses. */
export const KUBERNETES_CIDR: Library = {
  name: 'kubernetes.net.cidr',
  types: [CIDR_TYPE],
  overloads: [
    global(['cidr', 'string_to_cidr', [STRING], CIDR_TYPE], parseCidr),
    member(
      ['containsIP', 'cidr_contains_ip_string', [CIDR_TYPE, STRING], BOOL],
      (cidr: CelCidr, ip: string) => containsIp(cidr, parseIp(ip)),
    ),
    member(['containsIP', 'cidr_contains_ip_ip', [CIDR_TYPE, IP_TYPE], BOOL], containsIp),
    member(
      ['containsCIDR', 'cidr_contains_cidr_string', [CIDR_TYPE, STRING], BOOL],
      (cidr: CelCidr, other: string) => containsCidr(cidr, parseCidr(other)),
    ),
    member(['containsCIDR', 'cidr_contains_cidr', [CIDR_TYPE, CIDR_TYPE], BOOL], containsCidr),
    member(['ip', 'cidr_ip', [CIDR_TYPE], IP_TYPE], ({ address }: CelCidr) => new CelIp(address)),
    member(['prefixLength', 'cidr_prefix_length', [CIDR_TYPE], INT], ({ bits }: CelCidr) => bits),
    member(
      ['masked', 'cidr_masked', [CIDR_TYPE], CIDR_TYPE],
      ({ address, bits }: CelCidr) => new CelCidr(masked(address, bits), bits),
    ),
    global(['isCIDR', 'is_cidr', [STRING], BOOL], (text: string) => parseCidr(text) instanceof CelCidr),
    global(['string', 'cidr_to_string', [CIDR_TYPE], STRING], ({ text }: CelCidr) => text),
  ],
};
