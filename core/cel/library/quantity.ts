import type { UnitEquality } from '../cost/runtime.ts';
import { BOOL, DOUBLE, INT, STRING, structOf } from '../types/type.ts';
import type { SelfEqual } from '../values/compare.ts';
import { intOf } from '../values/integers.ts';
import {
  CelDouble,
  CelError,
  CelObject,
  type Int,
  NO_SUCH_OVERLOAD,
  type Value,
  error,
} from '../values/value.ts';
import { type Library, global, member } from './declare.ts';
import {
  type Amount,
  addAmounts,
  approximateFloat,
  compareAmounts,
  integerOf,
  negateAmount,
  parseAmount,
} from './quantity-amount.ts';

const QUANTITY_TYPE = structOf('kubernetes.Quantity');

class CelQuantity extends CelObject implements SelfEqual, UnitEquality {
  readonly type = QUANTITY_TYPE;
  readonly hasUnitEquality = true;
  readonly amount: Amount;

  constructor(amount: Amount) {
    super();
    this.amount = amount;
  }
  equals(other: Value): boolean | CelError {
    if (!(other instanceof CelQuantity)) return other instanceof CelError ? other : NO_SUCH_OVERLOAD;
    return compareAmounts(this.amount, other.amount) === 0;
  }
}

const parse = (text: string): Value => {
  const amount = parseAmount(text);
  return typeof amount === 'string' ? error(amount) : new CelQuantity(amount);
};
const ofInt = (value: Int): Amount => ({ unscaled: BigInt(value), scale: 0, isBig: false });
const compare = (a: CelQuantity, b: CelQuantity): number => compareAmounts(a.amount, b.amount);
const asInteger = ({ amount }: CelQuantity): Value => {
  const value = integerOf(amount);
  return value === undefined ? error('cannot convert value to integer') : intOf(value);
};
const sign = ({ amount: { unscaled } }: CelQuantity): number => (unscaled < 0n ? -1 : unscaled > 0n ? 1 : 0);
const sum = (a: Amount, b: Amount): CelQuantity => new CelQuantity(addAmounts(a, b));

const Q = QUANTITY_TYPE;

/** Amounts of resources, such as `500m` and `1Gi`. */
export const KUBERNETES_QUANTITY: Library = {
  name: 'kubernetes.quantity',
  overloads: [
    global(['quantity', 'string_to_quantity', [STRING], Q], parse),
    global(
      ['isQuantity', 'is_quantity_string', [STRING], BOOL],
      (text: string) => typeof parseAmount(text) !== 'string',
    ),
    global(['sign', 'quantity_sign', [Q], INT], sign),
    member(['isGreaterThan', 'quantity_is_greater_than', [Q, Q], BOOL], (a, b) => compare(a, b) > 0),
    member(['isLessThan', 'quantity_is_less_than', [Q, Q], BOOL], (a, b) => compare(a, b) < 0),
    member(['compareTo', 'quantity_compare_to', [Q, Q], INT], compare),
    member(
      ['asApproximateFloat', 'quantity_get_float', [Q], DOUBLE],
      ({ amount }: CelQuantity) => new CelDouble(approximateFloat(amount)),
    ),
    member(['asInteger', 'quantity_get_int', [Q], INT], asInteger),
    member(
      ['isInteger', 'quantity_is_integer', [Q], BOOL],
      ({ amount }: CelQuantity) => integerOf(amount) !== undefined,
    ),
    member(['add', 'quantity_add', [Q, Q], Q], (a: CelQuantity, b: CelQuantity) => sum(a.amount, b.amount)),
    member(['add', 'quantity_add_int', [Q, INT], Q], (a: CelQuantity, b: Int) => sum(a.amount, ofInt(b))),
    member(['sub', 'quantity_sub', [Q, Q], Q], (a: CelQuantity, b: CelQuantity) =>
      sum(a.amount, negateAmount(b.amount)),
    ),
    member(['sub', 'quantity_sub_int', [Q, INT], Q], (a: CelQuantity, b: Int) =>
      sum(a.amount, negateAmount(ofInt(b))),
    ),
  ],
};
