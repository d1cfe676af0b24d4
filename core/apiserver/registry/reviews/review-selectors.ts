import { ReasonError } from '../../../base/errors.ts';
import {
  labelRequirement,
  parseFieldSelector,
  parseRequirements,
  type FieldRequirement,
  type LabelOperator,
  type LabelRequirement,
} from '../../../api/selector/index.ts';
import { child, index, type FieldPath } from '../../../api/field/field-path.ts';
import { invalid, required, type FieldError } from '../../../api/field/field-error.ts';
import { operatorErrors, selectorRequirement } from '../../../api/validation/checks.ts';
import { maybeObj, objs, str, strs, type Obj } from '../../../api/validation/read.ts';

/** The selectors that a review asks about, as far as they can be read: what is left out makes the question broader. */
export interface ReviewSelectors {
  readonly fieldRequirements: readonly FieldRequirement[];
  readonly labelRequirements: readonly LabelRequirement[];
  /** What was left out, as upstream says it. */
  readonly problems: readonly string[];
}

interface Read<T> {
  readonly requirements: readonly T[];
  readonly isComplete: boolean;
}

const LABEL_OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};

const attempt = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch (error) {
    if (error instanceof ReasonError) return undefined;
    throw error;
  }
};

const fieldRequirement = (one: Obj): FieldRequirement | undefined => {
  const [operator, values] = [str(one, 'operator'), strs(one, 'values')];
  if (values.length !== 1 || (operator !== 'In' && operator !== 'NotIn')) return undefined;
  return { field: str(one, 'key'), operator: operator === 'In' ? '=' : '!=', value: values[0]! };
};

const labelRequirementOf = (one: Obj): LabelRequirement | undefined => {
  const operator = LABEL_OPERATORS[str(one, 'operator')];
  return operator && attempt(() => labelRequirement(str(one, 'key'), operator, strs(one, 'values')));
};

const readSelector = <T>(
  selector: Obj | undefined,
  parse: (raw: string) => readonly T[],
  convert: (requirement: Obj) => T | undefined,
): Read<T> => {
  if (selector === undefined) return { requirements: [], isComplete: true };
  const listed = objs(selector, 'requirements');
  if (listed.length > 0) {
    const requirements = listed.flatMap((one) => convert(one) ?? []);
    return { requirements, isComplete: requirements.length === listed.length };
  }
  const requirements = attempt(() => parse(str(selector, 'rawSelector')));
  return { requirements: requirements ?? [], isComplete: requirements !== undefined };
};

const problemOf = (name: string, { requirements, isComplete }: Read<unknown>): readonly string[] =>
  isComplete
    ? []
    : [
        `spec.resourceAttributes.${name} ${requirements.length > 0 ? 'partially ignored' : 'ignored'} due to parse error`,
      ];

export const reviewSelectors = (attributes: Obj): ReviewSelectors => {
  const fields = readSelector(
    maybeObj(attributes, 'fieldSelector'),
    (raw) => parseFieldSelector(raw).requirements,
    fieldRequirement,
  );
  const labels = readSelector(maybeObj(attributes, 'labelSelector'), parseRequirements, labelRequirementOf);
  return {
    fieldRequirements: fields.requirements,
    labelRequirements: labels.requirements,
    problems: [...problemOf('fieldSelector', fields), ...problemOf('labelSelector', labels)],
  };
};

const isKnownOperator = (one: Obj): boolean => Object.hasOwn(LABEL_OPERATORS, str(one, 'operator'));

/** A newer client may know more operators: they are no error, and count as not read. */
const labelErrors = (path: FieldPath, one: Obj): readonly FieldError[] =>
  selectorRequirement(path, one).filter(
    ({ field: at }) => isKnownOperator(one) || at !== child(path, 'operator'),
  );

const fieldErrors = (path: FieldPath, one: Obj): readonly FieldError[] => [
  ...(str(one, 'key') === '' ? [required(child(path, 'key'), 'must be specified')] : []),
  ...(isKnownOperator(one) ? operatorErrors(path, str(one, 'operator'), strs(one, 'values')) : []),
];

const selectorErrors = (
  selector: Obj | undefined,
  path: FieldPath,
  errorsOf: (path: FieldPath, requirement: Obj) => readonly FieldError[],
): readonly FieldError[] => {
  if (selector === undefined) return [];
  const [raw, listed] = [str(selector, 'rawSelector'), objs(selector, 'requirements')];
  const requirements = child(path, 'requirements');
  return [
    ...(raw !== '' && listed.length > 0
      ? [invalid(child(path, 'rawSelector'), raw, 'may not specified at the same time as requirements')]
      : []),
    ...(raw === '' && listed.length === 0
      ? [required(requirements, `when ${path} is specified, requirements or rawSelector is required`)]
      : []),
    ...listed.flatMap((one, at) => errorsOf(index(requirements, at), one)),
  ];
};

export const reviewSelectorErrors = (attributes: Obj): readonly FieldError[] => {
  const at = (name: string): FieldPath => `spec.resourceAttributes.${name}`;
  return [
    ...selectorErrors(maybeObj(attributes, 'fieldSelector'), at('fieldSelector'), fieldErrors),
    ...selectorErrors(maybeObj(attributes, 'labelSelector'), at('labelSelector'), labelErrors),
  ];
};
