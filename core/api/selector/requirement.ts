import { parseInt64 } from '../meta/int64.ts';
import type { FieldError } from '../field/field-error.ts';
import { FieldErrors, invalid, notSupported } from '../field/field-error.ts';
import type { FieldPath } from '../field/field-path.ts';
import { child, index, key as keyed, NO_PATH } from '../field/field-path.ts';
import { isLabelValue, isQualifiedName } from '../field/formats.ts';

export type Labels = Readonly<Record<string, string>>;

export type LabelOperator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

export interface LabelRequirement {
  readonly key: string;
  readonly operator: LabelOperator;
  readonly values: readonly string[];
}

/** The order in which upstream lists them in its error text. */
const OPERATORS: readonly LabelOperator[] = ['in', 'notin', '=', '==', '!=', 'gt', 'lt', 'exists', '!'];

function arityErrors(requirement: LabelRequirement, path: FieldPath): FieldError[] {
  const { operator, values } = requirement;
  const at = child(path, 'values');
  switch (operator) {
    case 'in':
    case 'notin':
      return values.length > 0
        ? []
        : [invalid(at, values, "for 'in', 'notin' operators, values set can't be empty")];
    case '=':
    case '==':
    case '!=':
      return values.length === 1
        ? []
        : [invalid(at, values, 'exact-match compatibility requires one single value')];
    case 'exists':
    case '!':
      return values.length === 0
        ? []
        : [invalid(at, values, 'values set must be empty for exists and does not exist')];
    case 'gt':
    case 'lt':
      return [
        ...(values.length === 1
          ? []
          : [invalid(at, values, "for 'Gt', 'Lt' operators, exactly one value is required")]),
        ...values.flatMap((value, i) =>
          parseInt64(value) === undefined
            ? [invalid(index(at, i), value, "for 'Gt', 'Lt' operators, the value must be an integer")]
            : [],
        ),
      ];
    default:
      return [notSupported(child(path, 'operator'), operator, OPERATORS)];
  }
}

/** Checks key, number of values and each value; throws FieldErrors with all that is wrong. */
export function labelRequirement(
  key: string,
  operator: LabelOperator,
  values: readonly string[],
  path: FieldPath = NO_PATH,
): LabelRequirement {
  const requirement: LabelRequirement = { key, operator, values };
  const keyErrors = isQualifiedName(key);
  const errors: FieldError[] = [
    ...(keyErrors.length > 0 ? [invalid(child(path, 'key'), key, keyErrors.join('; '))] : []),
    ...arityErrors(requirement, path),
    ...values.flatMap((value, i) => {
      const found = isLabelValue(value);
      return found.length > 0
        ? [invalid(keyed(index(child(path, 'values'), i), key), value, found.join('; '))]
        : [];
    }),
  ];
  if (errors.length > 0) throw new FieldErrors(errors);
  return requirement;
}

const SEPARATORS: Readonly<Record<LabelOperator, string>> = {
  '=': '=',
  '==': '==',
  '!=': '!=',
  in: ' in ',
  notin: ' notin ',
  gt: '>',
  lt: '<',
  exists: '',
  '!': '',
};

export function formatRequirement({ key, operator, values }: LabelRequirement): string {
  if (operator === 'exists') return key;
  if (operator === '!') return `!${key}`;
  const list = [...values].sort().join(',');
  const shown = operator === 'in' || operator === 'notin' ? `(${list})` : list;
  return `${key}${SEPARATORS[operator]}${shown}`;
}

export type LabelMatcher = (labels: Labels | undefined) => boolean;

const lookup = (labels: Labels | undefined, key: string): string | undefined =>
  labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;

/** A closure per requirement, so that matching a list does no dispatch and no parsing per object. */
export function compileRequirement({ key, operator, values }: LabelRequirement): LabelMatcher {
  switch (operator) {
    case '=':
    case '==':
    case 'in': {
      if (values.length === 1) {
        const wanted = values[0];
        return (labels) => lookup(labels, key) === wanted;
      }
      const wanted = new Set(values);
      return (labels) => {
        const value = lookup(labels, key);
        return value !== undefined && wanted.has(value);
      };
    }
    case '!=':
    case 'notin': {
      const unwanted = new Set(values);
      return (labels) => {
        const value = lookup(labels, key);
        return value === undefined || !unwanted.has(value);
      };
    }
    case 'exists':
      return (labels) => lookup(labels, key) !== undefined;
    case '!':
      return (labels) => lookup(labels, key) === undefined;
    case 'gt':
    case 'lt': {
      const bound = parseInt64(values[0] ?? '');
      return (labels) => {
        const text = lookup(labels, key);
        const value = text === undefined ? undefined : parseInt64(text);
        if (value === undefined || bound === undefined) return false;
        return operator === 'gt' ? value > bound : value < bound;
      };
    }
  }
}
