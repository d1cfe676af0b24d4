import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scaledValue } from './int-or-percent.ts';
import type { QuantityFormat } from './quantity.ts';
import { parseQuantity, Quantity, quantityFrom } from './quantity.ts';

const MICROS = 1_000n;
const UNIT = 1_000_000_000n;

test.each<[string, string]>([
  ['0', '0'],
  ['0Ki', '0'],
  ['1', '1'],
  ['1Ki', '1Ki'],
  ['1024Ki', '1Mi'],
  ['1536Mi', '1536Mi'],
  ['1.5Gi', '1536Mi'],
  ['0.5Gi', '512Mi'],
  ['0.5', '500m'],
  ['0.50000', '500m'],
  ['1.5', '1500m'],
  ['1000m', '1'],
  ['1000', '1k'],
  ['1000k', '1M'],
  ['100.035k', '100.035k'],
  ['9.01', '9010m'],
  ['1e3', '1e3'],
  ['1E3', '1E3'],
  ['1.2e3', '1200'],
  ['10e2', '1e3'],
  ['0.1n', '1n'],
  ['-0.1n', '-1n'],
  ['0.5Ki', '512'],
  ['0.0001Ki', '102400u'],
  ['100Ei', '9223372036854775807'],
  ['-5', '-5'],
  ['12345678901234567890', '12345678901234567890'],
  ['1000E', '1000E'],
])('%s is written as %s', (text, canonical) => {
  expect(parseQuantity(text).toString()).toBe(canonical);
});

test.each(['', '1.1.M', '1+1.0M', '0.1am', 'aoeu', ' 1', '1 Gi', '0x10'])(
  '%j is refused for its shape',
  (text) => {
    expect(() => parseQuantity(text)).toThrow(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  },
);

test.each(['1i', '.5i', '1mi', '1e', '1KiB'.slice(0, 2) + 'i5', '3.01e-'])(
  '%j is refused for its suffix',
  (text) => {
    expect(() => parseQuantity(text)).toThrow("unable to parse quantity's suffix");
  },
);

test('a long malformed number is refused without backtracking', () => {
  const text = `${'0'.repeat(1_000)}x`;
  expect(() => parseQuantity(text)).toThrow('quantities must match the regular expression');
});

test('leading zeros mean nothing', () => {
  expect(['007', '-0', '00.50'].map((text) => parseQuantity(text).canonical())).toEqual(['7', '0', '500m']);
});

test('values round away from zero', () => {
  expect([
    parseQuantity('1500m').value(),
    parseQuantity('-1500m').value(),
    parseQuantity('1u').milliValue(),
  ]).toEqual([2n, -2n, 1n]);
});

test('a sum takes the format of its first part that is not zero', () => {
  const sum = parseQuantity('0').add(parseQuantity('512Mi')).add(parseQuantity('512M'));
  expect([sum.format, sum.toString()]).toEqual(['BinarySI', '1024288Ki']);
});

test('JSON numbers and null are read as quantities', () => {
  expect([quantityFrom(2).toString(), quantityFrom(null).toString(), quantityFrom(' 5 ').toString()]).toEqual(
    ['2', '0', '5'],
  );
});

const amounts = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
const formats = fc.constantFrom<QuantityFormat>('DecimalSI', 'BinarySI', 'DecimalExponent');

test('a written amount is parsed as the same amount', () => {
  fc.assert(
    fc.property(amounts, formats, (nanos, format) => {
      const limit = (2n ** 63n - 1n) * UNIT;
      fc.pre(format !== 'BinarySI' || (nanos <= limit && nanos >= -limit));
      const text = new Quantity(nanos, format).toString();
      const read = parseQuantity(text);
      expect(read.nanos).toBe(nanos);
      expect(new Quantity(read.nanos, read.format).toString()).toBe(text);
    }),
  );
});

test('arithmetic agrees with integers', () => {
  fc.assert(
    fc.property(amounts, amounts, formats, formats, (a, b, formatA, formatB) => {
      const left = new Quantity(a, formatA);
      const right = new Quantity(b, formatB);
      expect(left.add(right).subtract(right).nanos).toBe(a);
      expect(left.compare(right)).toBe(a < b ? -1 : a > b ? 1 : 0);
      expect(left.add(left.negate()).isZero).toBe(true);
      expect(left.value() * UNIT - a < UNIT).toBe(true);
    }),
  );
});

test('a decimal text means its digits times its suffix', () => {
  fc.assert(
    fc.property(fc.nat(1_000_000), fc.nat(999_999), (whole, fraction) => {
      const digits = String(fraction).padStart(6, '0');
      expect(parseQuantity(`${whole}.${digits}`).nanos).toBe(
        (BigInt(whole) * 1_000_000n + BigInt(fraction)) * MICROS,
      );
    }),
  );
});

test('percentages scale with the rounding asked for', () => {
  expect([
    scaledValue('25%', { total: 10, roundUp: true }),
    scaledValue('25%', { total: 10, roundUp: false }),
    scaledValue(7, { total: 10, roundUp: false }),
  ]).toEqual([3, 2, 7]);
});

test('a string that is no percentage does not scale', () => {
  expect(() => scaledValue('25', { total: 10, roundUp: true })).toThrow(
    'invalid value for IntOrString: invalid type: string is not a percentage',
  );
  expect(() => scaledValue('a%', { total: 10, roundUp: true })).toThrow(
    'invalid value for IntOrString: invalid value "a%": strconv.Atoi: parsing "a": invalid syntax',
  );
});
