const EXPONENT_FROM = 6;

/** Go's `%g`: the shortest digits that read back as the same number, with an exponent for large and small numbers. */
export const goFloat = (value: number): string => {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Object.is(value, -0)) return '-0';
  if (value === 0) return '0';
  const [mantissa, exponentText] = value.toExponential().split('e') as [string, string];
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= EXPONENT_FROM) {
    const digits = Math.abs(exponent).toString().padStart(2, '0');
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
  }
  return plainFloat(value);
};

/** Shortest digits without an exponent. */
export const plainFloat = (value: number): string => {
  const text = String(value);
  if (!text.includes('e')) return text;
  const [mantissa, exponentText] = text.split('e') as [string, string];
  const sign = mantissa.startsWith('-') ? '-' : '';
  const [whole, fraction = ''] = mantissa.replace('-', '').split('.') as [string, string?];
  const digits = whole + fraction;
  const point = whole.length + Number(exponentText);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return point >= digits.length
    ? sign + digits + '0'.repeat(point - digits.length)
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
};
