export type { QuantityFormat } from './quantity.ts';
export {
  EXPONENT_MAX,
  isQuantityInvalid,
  ofMilliUnits,
  ofUnits,
  parseQuantity,
  Quantity,
  quantityFrom,
  ZERO,
} from './quantity.ts';
export type { IntOrString } from './int-or-percent.ts';
export { scaledValue } from './int-or-percent.ts';
