import { goQuote } from '../values/go-text.ts';

/** An IP address as its bytes: four or sixteen. */
export interface Address {
  readonly bytes: Uint8Array;
  /** `fe80::1%eth0`; such addresses are recognised, to be rejected. */
  readonly zone: string;
}

/** Thrown by the parsers with the text that Go's netip has for it. */
class AddressError extends Error {
  override readonly name = 'AddressError';
}

const fail = (input: string, message: string, at = ''): never => {
  throw new AddressError(
    `ParseAddr(${goQuote(input)}): ${message}${at === '' ? '' : ` (at ${goQuote(at)})`}`,
  );
};

const isDigit = (character: string): boolean => character >= '0' && character <= '9';

const parseV4Fields = (input: string, text: string): number[] => {
  const fields: number[] = [];
  let value = 0;
  let digits = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (isDigit(character)) {
      if (digits === 1 && value === 0) fail(input, 'IPv4 field has octet with leading zero');
      value = value * 10 + Number(character);
      digits++;
      if (value > 255) fail(input, 'IPv4 field has value >255');
    } else if (character === '.') {
      if (at === 0 || at === text.length - 1 || text[at - 1] === '.')
        fail(input, 'IPv4 field must have at least one digit', text.slice(at));
      if (fields.length === 3) fail(input, 'IPv4 address too long');
      fields.push(value);
      value = 0;
      digits = 0;
    } else fail(input, 'unexpected character', text.slice(at));
  }
  if (fields.length < 3) fail(input, 'IPv4 address too short');
  return [...fields, value];
};

const HEX = /[0-9a-fA-F]*/y;

class V6Reader {
  readonly bytes: number[] = [];
  #ellipsis = -1;
  #rest: string;
  readonly input: string;

  constructor(input: string, text: string) {
    this.input = input;
    this.#rest = text;
  }

  read(): Uint8Array {
    if (this.#rest.startsWith('::')) {
      this.#ellipsis = 0;
      this.#rest = this.#rest.slice(2);
      if (this.#rest === '') return new Uint8Array(16);
    }
    while (this.bytes.length < 16 && this.#field());
    if (this.#rest !== '') fail(this.input, 'trailing garbage after address', this.#rest);
    return this.#expanded();
  }

  /** One group and the colon behind it; false at the end of the address. */
  #field(): boolean {
    HEX.lastIndex = 0;
    const [digits] = HEX.exec(this.#rest)!;
    const rest = this.#rest;
    if (digits.length > 4) fail(this.input, 'each group must have 4 or less digits', rest);
    if (digits === '') fail(this.input, 'each colon-separated field must have at least one digit', rest);
    if (rest[digits.length] === '.') {
      this.#embedded();
      return false;
    }
    const value = Number.parseInt(digits, 16);
    this.bytes.push(value >> 8, value & 0xff);
    return this.#separator(rest.slice(digits.length));
  }

  #embedded(): void {
    const rest = this.#rest;
    if (this.#ellipsis < 0 && this.bytes.length !== 12)
      fail(this.input, 'embedded IPv4 address must replace the final 2 fields of the address', rest);
    if (this.bytes.length + 4 > 16)
      fail(this.input, 'too many hex fields to fit an embedded IPv4 at the end of the address', rest);
    this.bytes.push(...parseV4Fields(this.input, rest));
    this.#rest = '';
  }

  #separator(rest: string): boolean {
    this.#rest = rest;
    if (rest === '') return false;
    if (!rest.startsWith(':')) fail(this.input, 'unexpected character, want colon', rest);
    if (rest.length === 1) fail(this.input, 'colon must be followed by more characters', rest);
    this.#rest = rest.slice(1);
    if (!this.#rest.startsWith(':')) return true;
    if (this.#ellipsis >= 0) fail(this.input, 'multiple :: in address', this.#rest);
    this.#ellipsis = this.bytes.length;
    this.#rest = this.#rest.slice(1);
    return this.#rest !== '';
  }

  #expanded(): Uint8Array {
    const { bytes } = this;
    if (bytes.length === 16) {
      if (this.#ellipsis >= 0) fail(this.input, 'the :: must expand to at least one field of zeros');
      return Uint8Array.from(bytes);
    }
    if (this.#ellipsis < 0) fail(this.input, 'address string too short');
    const zeros = new Array<number>(16 - bytes.length).fill(0);
    return Uint8Array.from([...bytes.slice(0, this.#ellipsis), ...zeros, ...bytes.slice(this.#ellipsis)]);
  }
}

const parseV6 = (input: string): Address => {
  const percent = input.indexOf('%');
  const zone = percent < 0 ? '' : input.slice(percent + 1);
  if (percent >= 0 && zone === '') fail(input, 'zone must be a non-empty string');
  return { bytes: new V6Reader(input, percent < 0 ? input : input.slice(0, percent)).read(), zone };
};

const parse = (input: string): Address => {
  const first = /[.:%]/.exec(input)?.[0];
  if (first === '.') return { bytes: Uint8Array.from(parseV4Fields(input, input)), zone: '' };
  if (first === ':') return parseV6(input);
  return fail(input, first === '%' ? 'missing IPv6 address' : 'unable to parse IP');
};

/** The address, or why it is none. */
export const parseAddress = (input: string): Address | string => {
  try {
    return parse(input);
  } catch (thrown) {
    if (thrown instanceof AddressError) return thrown.message;
    throw thrown;
  }
};

export const isV4 = ({ bytes }: Address): boolean => bytes.length === 4;

/** An IPv4 address written as IPv6, `::ffff:1.2.3.4`. */
export const isV4InV6 = ({ bytes }: Address): boolean =>
  bytes.length === 16 &&
  bytes.subarray(0, 10).every((byte) => byte === 0) &&
  bytes[10] === 0xff &&
  bytes[11] === 0xff;

const groupsOf = (bytes: Uint8Array): number[] =>
  Array.from({ length: 8 }, (_, index) => (bytes[2 * index]! << 8) | bytes[2 * index + 1]!);

/** The canonical text (RFC 5952): the longest run of zero groups is left out. */
export const addressText = (address: Address): string => {
  if (isV4(address)) return address.bytes.join('.');
  const groups = groupsOf(address.bytes);
  let start = -1;
  let length = 1;
  for (let at = 0; at < 8; at++) {
    let end = at;
    while (end < 8 && groups[end] === 0) end++;
    if (end - at > length) {
      start = at;
      length = end - at;
    }
  }
  const text = (from: number, to: number): string =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(':');
  return start < 0 ? text(0, 8) : `${text(0, start)}::${text(start + length, 8)}`;
};
