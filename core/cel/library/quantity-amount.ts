import { INT_MAX, INT_MIN } from '../values/integers.ts';

/** A decimal number, `unscaled * 10 ** scale`. */
export interface Amount {
  readonly unscaled: bigint;
  readonly scale: number;
  /** Kept by upstream as a big decimal rather than as an int64 with a scale: such amounts are never integers. */
  readonly isBig: boolean;
}

export const FORMAT_WRONG =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const SUFFIX_WRONG = "unable to parse quantity's suffix";

const DECIMAL_EXPONENTS: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY_EXPONENTS: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
const SHAPE = /^([+-]?)0*([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*)([+-]?[0-9]*)$/;

/** Digits that an int64 holds for certain. */
const INT64_DIGITS = 18;
const NANO = -9;
/** No quantity has more digits; a request may bring millions. */
const DIGITS_MAX = 400;

interface Suffix {
  readonly base: 2 | 10;
  readonly exponent: number;
}

const readSuffix = (letters: string, digits: string): Suffix | undefined => {
  if (digits === '') {
    if (Object.hasOwn(DECIMAL_EXPONENTS, letters)) return { base: 10, exponent: DECIMAL_EXPONENTS[letters]! };
    if (Object.hasOwn(BINARY_EXPONENTS, letters)) return { base: 2, exponent: BINARY_EXPONENTS[letters]! };
    return undefined;
  }
  if (letters !== 'e' && letters !== 'E') return undefined;
  const exponent = Number(digits);
  return Number.isInteger(exponent) && Math.abs(exponent) <= DIGITS_MAX && /[0-9]/.test(digits)
    ? { base: 10, exponent }
    : undefined;
};

const power = (exponent: number): bigint => 10n ** BigInt(exponent);

/** To billionths, rounded away from zero: who asks for some of a resource is to get some. */
const inBillionths = (unscaled: bigint, scale: number): bigint => {
  if (scale >= NANO) return unscaled * power(scale - NANO);
  const divisor = power(NANO - scale);
  const quotient = unscaled / divisor;
  return unscaled % divisor === 0n ? quotient : quotient + (unscaled < 0n ? -1n : 1n);
};

const BINARY_MAX = INT_MAX * 10n ** 9n;

/** Binary amounts end at the largest int64. */
const big = (unscaled: bigint, scale: number, isBinary: boolean): Amount => {
  const exact = inBillionths(unscaled, scale);
  const capped = !isBinary
    ? exact
    : exact > BINARY_MAX
      ? BINARY_MAX
      : exact < -BINARY_MAX
        ? -BINARY_MAX
        : exact;
  return { unscaled: capped, scale: NANO, isBig: true };
};

/** The amount, or why the text is none. */
export const parseAmount = (text: string): Amount | string => {
  const found = SHAPE.exec(text);
  if (text === '' || found === null) return FORMAT_WRONG;
  const [, sign, whole, fraction = '', letters, digits] = found as unknown as [
    string,
    string,
    string,
    string | undefined,
    string,
    string,
  ];
  const suffix = readSuffix(letters, digits);
  if (suffix === undefined) return letters === '' && digits !== '' ? FORMAT_WRONG : SUFFIX_WRONG;
  if (whole.length + fraction.length > DIGITS_MAX) return FORMAT_WRONG;
  const { base, exponent } = suffix;
  const magnitude = BigInt(whole + fraction || '0') * (base === 2 ? 2n ** BigInt(exponent) : 1n);
  const unscaled = sign === '-' ? -magnitude : magnitude;
  const scale = (base === 10 ? exponent : 0) - fraction.length;
  const isSmall =
    base === 10
      ? whole.length + fraction.length <= INT64_DIGITS && scale >= NANO
      : fraction === '' && 15 - whole.length - Math.trunc((exponent * 3) / 10) - 1 >= 0;
  return isSmall ? { unscaled, scale, isBig: false } : big(unscaled, scale, base === 2);
};

const aligned = (a: Amount, b: Amount): readonly [bigint, bigint, number] => {
  const scale = Math.min(a.scale, b.scale);
  return [a.unscaled * power(a.scale - scale), b.unscaled * power(b.scale - scale), scale];
};

export const compareAmounts = (a: Amount, b: Amount): number => {
  const [x, y] = aligned(a, b);
  return x < y ? -1 : x > y ? 1 : 0;
};

const fitsInt64 = (value: bigint): boolean => value >= INT_MIN && value <= INT_MAX;

export const addAmounts = (a: Amount, b: Amount): Amount => {
  if (!a.isBig && !b.isBig) {
    if (b.unscaled === 0n) return a;
    if (a.unscaled === 0n) return b;
  }
  const [x, y, scale] = aligned(a, b);
  const isBig = a.isBig || b.isBig || !fitsInt64(x) || !fitsInt64(y) || !fitsInt64(x + y);
  return { unscaled: x + y, scale, isBig };
};

export const negateAmount = (amount: Amount): Amount => ({ ...amount, unscaled: -amount.unscaled });

/** The int64 it is, where upstream can tell without a division. */
export const integerOf = ({ unscaled, scale, isBig }: Amount): bigint | undefined => {
  if (isBig || scale < 0) return undefined;
  const value = unscaled * power(scale);
  return fitsInt64(value) ? value : undefined;
};

export const approximateFloat = ({ unscaled, scale }: Amount): number => {
  if (scale === 0) return Number(unscaled);
  return Number(unscaled) * Number(`1e${scale}`);
};
