import { goQuote } from '../../field/go-text.ts';
import { child, key, type FieldPath } from '../../field/field-path.ts';
import type { Quantity } from '../../quantity/quantity.ts';
import { obj, quantities, type Obj } from '../read.ts';

const MILLI = 1000n;

/** Bytes are counted in whole numbers. */
export const fractionWarnings = (
  path: FieldPath,
  amounts: readonly (readonly [name: string, amount: Quantity])[],
  resources: readonly string[],
): string[] =>
  resources.flatMap((resource) =>
    amounts
      .filter(([name, amount]) => name === resource && amount.milliValue() % MILLI !== 0n)
      .map(
        ([name, amount]) =>
          `${key(path, name)}: fractional byte value ${goQuote(amount.toString())} is invalid, must be an integer`,
      ),
  );

export const claimSpecWarnings = (path: FieldPath, spec: Obj): string[] =>
  ['requests', 'limits'].flatMap((field) =>
    fractionWarnings(child(path, 'resources', field), quantities(obj(spec, 'resources'), field), ['storage']),
  );
