import type { CelError } from './value.ts';
import { CelUint, type Int, error } from './value.ts';

export const INT_MIN = -(2n ** 63n);
export const INT_MAX = 2n ** 63n - 1n;
export const UINT_MAX = 2n ** 64n - 1n;

export const INT_OVERFLOW = error('integer overflow');
export const UINT_OVERFLOW = error('unsigned integer overflow');
export const DIVISION_BY_ZERO = error('division by zero');
export const MODULUS_BY_ZERO = error('modulus by zero');

const SAFE_MAX = BigInt(Number.MAX_SAFE_INTEGER);

/** The canonical form of an int: a number whenever it is a safe integer. */
export const intOf = (exact: bigint): Int =>
  exact <= SAFE_MAX && exact >= -SAFE_MAX ? Number(exact) : exact;

export const checkedInt = (exact: bigint): Int | CelError =>
  exact > INT_MAX || exact < INT_MIN ? INT_OVERFLOW : intOf(exact);
export const checkedUint = (exact: bigint): CelUint | CelError =>
  exact > UINT_MAX || exact < 0n ? UINT_OVERFLOW : new CelUint(exact);

const bothNumbers = (a: Int, b: Int): boolean => typeof a === 'number' && typeof b === 'number';

export const addInt = (a: Int, b: Int): Int | CelError => {
  if (bothNumbers(a, b)) {
    const sum = (a as number) + (b as number);
    if (Number.isSafeInteger(sum)) return sum;
  }
  return checkedInt(BigInt(a) + BigInt(b));
};

export const subtractInt = (a: Int, b: Int): Int | CelError => {
  if (bothNumbers(a, b)) {
    const difference = (a as number) - (b as number);
    if (Number.isSafeInteger(difference)) return difference;
  }
  return checkedInt(BigInt(a) - BigInt(b));
};

export const multiplyInt = (a: Int, b: Int): Int | CelError => {
  if (bothNumbers(a, b)) {
    const product = (a as number) * (b as number);
    if (Number.isSafeInteger(product)) return product;
  }
  return checkedInt(BigInt(a) * BigInt(b));
};

export const divideInt = (a: Int, b: Int): Int | CelError => {
  if (b === 0) return DIVISION_BY_ZERO;
  if (bothNumbers(a, b)) return Math.trunc((a as number) / (b as number));
  return checkedInt(BigInt(a) / BigInt(b));
};

export const moduloInt = (a: Int, b: Int): Int | CelError => {
  if (b === 0) return MODULUS_BY_ZERO;
  if (bothNumbers(a, b)) return (a as number) % (b as number);
  // The one quotient that does not fit makes Go report an overflow for the remainder, too.
  if (a === INT_MIN && b === -1) return INT_OVERFLOW;
  return intOf(BigInt(a) % BigInt(b));
};

export const negateInt = (a: Int): Int | CelError => (typeof a === 'number' ? -a : checkedInt(-a));

const TWO_63 = 2 ** 63;
const TWO_64 = 2 ** 64;

/** The int a double stands for, cut towards zero. Go excludes both ends of the range, as it cannot represent them. */
export const doubleToInt = (value: number): Int | CelError =>
  Number.isNaN(value) || value <= -TWO_63 || value >= TWO_63
    ? INT_OVERFLOW
    : intOf(BigInt(Math.trunc(value)));

export const doubleToUint = (value: number): CelUint | CelError =>
  Number.isNaN(value) || value < 0 || value >= TWO_64
    ? UINT_OVERFLOW
    : new CelUint(BigInt(Math.trunc(value)));

const DECIMAL = /^([+-]?)0*([0-9]+)$/;
/** No more digits are converted: a request may bring millions. */
const DIGITS_MAX = 20;

/** Decimal digits with a sign, as Go's ParseInt reads them; undefined if it is none or does not fit. */
export const parseInt64 = (text: string): Int | undefined => {
  const [, sign, digits] = DECIMAL.exec(text) ?? [];
  if (digits === undefined || digits.length > DIGITS_MAX) return undefined;
  const exact = sign === '-' ? -BigInt(digits) : BigInt(digits);
  return exact > INT_MAX || exact < INT_MIN ? undefined : intOf(exact);
};

export const parseUint64 = (text: string): CelUint | undefined => {
  const [, sign, digits] = DECIMAL.exec(text) ?? [];
  if (digits === undefined || sign !== '' || digits.length > DIGITS_MAX) return undefined;
  const exact = BigInt(digits);
  return exact > UINT_MAX ? undefined : new CelUint(exact);
};
