import { ReasonError } from '../../base/errors.ts';
import { goQuote } from '../field/go-text.ts';

/** A number of things, or a share of them such as `25%`. */
export type IntOrString = number | string;

const fail = (detail: string): ReasonError<'IntOrStringInvalid'> =>
  new ReasonError('IntOrStringInvalid', `invalid value for IntOrString: ${detail}`);

const INT_TEXT = /^[-+]?[0-9]+$/;

/** The number itself, or that share of `total` rounded as asked. A string that is no percentage fails. */
export function scaledValue(
  value: IntOrString | undefined,
  options: { readonly total: number; readonly roundUp: boolean },
): number {
  if (value === undefined) throw new ReasonError('IntOrStringInvalid', 'nil value for IntOrString');
  if (typeof value === 'number') return value;
  if (!value.endsWith('%')) throw fail('invalid type: string is not a percentage');
  const digits = value.slice(0, -1);
  if (!INT_TEXT.test(digits))
    throw fail(`invalid value ${goQuote(value)}: strconv.Atoi: parsing ${goQuote(digits)}: invalid syntax`);
  const share = (Number(digits) * options.total) / 100;
  return options.roundUp ? Math.ceil(share) : Math.floor(share);
}
