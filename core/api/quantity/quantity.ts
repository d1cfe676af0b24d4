import { ReasonError } from '../../base/errors.ts';

/** Which notation a quantity was written in, and therefore is written back in. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

const FORMAT_MESSAGE =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const SUFFIX_MESSAGE = "unable to parse quantity's suffix";

/** Upstream keeps any int32 exponent; ours is bounded, since arithmetic here is exact at every size. */
export const EXPONENT_MAX = 400;
/** More digits than any sensible quantity has; a longer one is refused instead of multiplied out. */
export const QUANTITY_CHARACTERS_MAX = 1_024;

const NANO_DIGITS = 9;
const NANOS_PER_UNIT = 10n ** BigInt(NANO_DIGITS);
const INT64_MAX = 2n ** 63n - 1n;
/** Digits that always fit an int64: upstream's fast path, which decides when the text is kept as written. */
const INT64_DIGITS = 18;

const DECIMAL_SUFFIXES: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
const DECIMAL_SUFFIX_OF = new Map([...DECIMAL_SUFFIXES].map(([suffix, exponent]) => [exponent, suffix]));
const BINARY_SUFFIXES = ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;
const DECIMAL_EXPONENT_LARGEST = 18;

const absolute = (value: bigint): bigint => (value < 0n ? -value : value);

/** Division that rounds away from zero, as every rounding of a quantity does. */
const divideAway = (value: bigint, divisor: bigint): bigint => {
  const quotient = absolute(value) / divisor;
  const rounded = absolute(value) % divisor === 0n ? quotient : quotient + 1n;
  return value < 0n ? -rounded : rounded;
};

/**
 * An exact, immutable amount: an integer number of nanos, the smallest step the API knows. `text` is the
 * spelling it was read in when upstream would write that spelling back.
 */
export class Quantity {
  readonly nanos: bigint;
  readonly format: QuantityFormat;
  readonly #text: string | undefined;

  constructor(nanos: bigint, format: QuantityFormat, text?: string) {
    this.nanos = nanos;
    this.format = format;
    this.#text = text;
  }

  add(other: Quantity): Quantity {
    return new Quantity(this.nanos + other.nanos, this.nanos === 0n ? other.format : this.format);
  }

  subtract(other: Quantity): Quantity {
    return new Quantity(this.nanos - other.nanos, this.nanos === 0n ? other.format : this.format);
  }

  multiply(factor: bigint): Quantity {
    return new Quantity(this.nanos * factor, this.format);
  }

  negate(): Quantity {
    return new Quantity(-this.nanos, this.format);
  }

  compare(other: Quantity): -1 | 0 | 1 {
    if (this.nanos === other.nanos) return 0;
    return this.nanos < other.nanos ? -1 : 1;
  }

  equals(other: Quantity): boolean {
    return this.nanos === other.nanos;
  }

  get isZero(): boolean {
    return this.nanos === 0n;
  }

  get sign(): -1 | 0 | 1 {
    if (this.nanos === 0n) return 0;
    return this.nanos < 0n ? -1 : 1;
  }

  /** Whole units, rounded away from zero. */
  value(): bigint {
    return divideAway(this.nanos, NANOS_PER_UNIT);
  }

  /** Thousandths, rounded away from zero. */
  milliValue(): bigint {
    return divideAway(this.nanos, 1_000_000n);
  }

  /** For charts and ratios only: a double, so not exact. */
  toNumber(): number {
    const whole = this.nanos / NANOS_PER_UNIT;
    return Number(whole) + Number(this.nanos % NANOS_PER_UNIT) / 1e9;
  }

  /** The text as written where that was canonical, else the canonical one. */
  toString(): string {
    return this.#text ?? this.canonical();
  }

  toJSON(): string {
    return this.toString();
  }

  /** No fraction, the largest suffix that allows it, one spelling for every amount. */
  canonical(): string {
    if (this.nanos === 0n) return '0';
    if (this.format === 'BinarySI' && this.nanos % NANOS_PER_UNIT === 0n) {
      const units = this.nanos / NANOS_PER_UNIT;
      if (absolute(units) >= 1_024n) return binaryText(units);
    }
    return decimalText(this.nanos, this.format);
  }
}

function binaryText(units: bigint): string {
  let mantissa = units;
  let steps = 0;
  while (steps < BINARY_SUFFIXES.length && mantissa % 1_024n === 0n) {
    mantissa /= 1_024n;
    steps += 1;
  }
  return `${mantissa}${steps === 0 ? '' : (BINARY_SUFFIXES[steps - 1] ?? '')}`;
}

function decimalText(nanos: bigint, format: QuantityFormat): string {
  let mantissa = nanos;
  let exponent = -NANO_DIGITS;
  const largest = format === 'DecimalExponent' ? Number.POSITIVE_INFINITY : DECIMAL_EXPONENT_LARGEST;
  while (exponent < largest && mantissa % 1_000n === 0n) {
    mantissa /= 1_000n;
    exponent += 3;
  }
  if (format === 'DecimalExponent') return exponent === 0 ? `${mantissa}` : `${mantissa}e${exponent}`;
  return `${mantissa}${DECIMAL_SUFFIX_OF.get(exponent) ?? ''}`;
}

interface Suffix {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: QuantityFormat;
}

function readSuffix(text: string): Suffix | undefined {
  const decimal = DECIMAL_SUFFIXES.get(text);
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: 'DecimalSI' };
  const binary = (BINARY_SUFFIXES as readonly string[]).indexOf(text);
  if (binary >= 0) return { base: 2, exponent: (binary + 1) * 10, format: 'BinarySI' };
  if (!/^[eE][-+]?[0-9]+$/.test(text)) return undefined;
  const exponent = Number(text.slice(1));
  if (exponent > EXPONENT_MAX) return undefined;
  return { base: 10, exponent: Math.max(exponent, -EXPONENT_MAX), format: 'DecimalExponent' };
}

/**
 * Looser than the expression in the message, as upstream's parser is: "." and "m" read as zero. A suffix may
 * not begin with a digit, or the match of a long malformed number would take quadratic time.
 */
const SHAPE = /^([+-]?)([0-9]*)(?:\.([0-9]*))?((?![0-9])[eEinumkKMGTP]*[-+]?[0-9]*)$/;

const fail = (message: string): ReasonError<'QuantityInvalid'> => new ReasonError('QuantityInvalid', message);

export function parseQuantity(text: string): Quantity {
  if (text === '' || text.length > QUANTITY_CHARACTERS_MAX) throw fail(FORMAT_MESSAGE);
  const match = SHAPE.exec(text);
  if (match === null) throw fail(FORMAT_MESSAGE);
  const [, sign = '', digits = '', fraction = '', suffixText = ''] = match;
  const whole = digits.replace(/^0+/, '') || '0';
  const suffix = readSuffix(suffixText);
  if (suffix === undefined) throw fail(SUFFIX_MESSAGE);
  const magnitude = BigInt(whole + fraction);
  const signed = sign === '-' ? -magnitude : magnitude;
  const nanos = scaleToNanos(signed, suffix, fraction.length);
  if (keepsText(whole, fraction, suffix)) return new Quantity(nanos, suffix.format, text);
  return limitBinary(nanos, suffix.format);
}

function scaleToNanos(unscaled: bigint, suffix: Suffix, fractionDigits: number): bigint {
  const factored = suffix.base === 2 ? unscaled << BigInt(suffix.exponent) : unscaled;
  const exponent = (suffix.base === 10 ? suffix.exponent : 0) - fractionDigits + NANO_DIGITS;
  // Anything above nothing stays above nothing: a request for too little gets the least there is.
  return exponent >= 0 ? factored * 10n ** BigInt(exponent) : divideAway(factored, 10n ** BigInt(-exponent));
}

function keepsText(whole: string, fraction: string, suffix: Suffix): boolean {
  const digits = whole + fraction;
  if (suffix.format === 'BinarySI') {
    const precision = INT64_DIGITS - 4 - whole.length - Math.trunc((suffix.exponent * 3) / 10);
    return fraction === '' && precision >= 0 && (BigInt(whole) & 7n) !== 0n;
  }
  const scale = suffix.exponent - fraction.length;
  if (digits.length > INT64_DIGITS || scale < -NANO_DIGITS) return false;
  return scale % 3 === 0 && !digits.endsWith('000') && !digits.startsWith('0');
}

function limitBinary(nanos: bigint, format: QuantityFormat): Quantity {
  if (format !== 'BinarySI') return new Quantity(nanos, format);
  const limit = INT64_MAX * NANOS_PER_UNIT;
  if (nanos > limit) return new Quantity(limit, format);
  if (nanos < -limit) return new Quantity(-limit, format);
  const tiny = nanos !== 0n && absolute(nanos) < NANOS_PER_UNIT;
  return new Quantity(nanos, tiny ? 'DecimalSI' : format);
}

/** Reads what JSON may hold: a string, a number, or nothing for zero. */
export function quantityFrom(value: unknown): Quantity {
  if (value === null || value === undefined) return ZERO;
  if (typeof value === 'number' || typeof value === 'bigint') return parseQuantity(String(value));
  if (typeof value === 'string') return parseQuantity(value.trim());
  throw fail(FORMAT_MESSAGE);
}

export const isQuantityInvalid = (error: unknown): error is ReasonError<'QuantityInvalid'> =>
  error instanceof ReasonError && error.reason === 'QuantityInvalid';

export const ofUnits = (units: bigint, format: QuantityFormat = 'DecimalSI'): Quantity =>
  new Quantity(units * NANOS_PER_UNIT, format);

export const ofMilliUnits = (milliUnits: bigint, format: QuantityFormat = 'DecimalSI'): Quantity =>
  new Quantity(milliUnits * 1_000_000n, format);

export const ZERO = new Quantity(0n, 'DecimalSI', '0');
