const MANTISSA_BITS = 52;
const EXPONENT_BIAS = 1075;

interface Exact {
  readonly isNegative: boolean;
  readonly mantissa: bigint;
  /** The number is mantissa times two to this. */
  readonly exponent: number;
}

const exactOf = (value: number): Exact => {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const raw = Number((bits >> BigInt(MANTISSA_BITS)) & 0x7ffn);
  const fraction = bits & ((1n << BigInt(MANTISSA_BITS)) - 1n);
  return {
    isNegative: bits >> 63n === 1n,
    mantissa: raw === 0 ? fraction : fraction | (1n << BigInt(MANTISSA_BITS)),
    exponent: (raw === 0 ? 1 : raw) - EXPONENT_BIAS,
  };
};

/** A finite number with so many digits after the point, rounded half to even from its exact value. */
export const fixedDigits = (value: number, precision: number): string => {
  const { isNegative, mantissa, exponent } = exactOf(value);
  const scaled = mantissa * 10n ** BigInt(precision);
  let digits: bigint;
  if (exponent >= 0) digits = scaled << BigInt(exponent);
  else {
    const shift = BigInt(-exponent);
    const half = 1n << (shift - 1n);
    const rest = scaled & ((1n << shift) - 1n);
    digits = scaled >> shift;
    if (rest > half || (rest === half && digits % 2n === 1n)) digits += 1n;
  }
  const text = digits.toString().padStart(precision + 1, '0');
  const sign = isNegative ? '-' : '';
  if (precision === 0) return sign + text;
  return `${sign}${text.slice(0, -precision)}.${text.slice(-precision)}`;
};
