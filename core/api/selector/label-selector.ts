import { ReasonError } from '../../base/errors.ts';
import { goQuote } from '../field/go-text.ts';
import { byKey, parseRequirements } from './label-parser.ts';
import type { LabelMatcher, LabelOperator, LabelRequirement, Labels } from './requirement.ts';
import { compileRequirement, formatRequirement, labelRequirement } from './requirement.ts';

/** A compiled selector. `matches` is safe to call for every object of a list: it allocates nothing. */
export interface LabelSelector {
  readonly requirements: readonly LabelRequirement[];
  /** True when it selects everything. */
  readonly isEmpty: boolean;
  readonly matches: LabelMatcher;
  toString(): string;
}

/** `spec.selector` and its kin, as they travel on the wire. */
export interface LabelSelectorObject {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

function compile(requirements: readonly LabelRequirement[]): LabelSelector {
  const matchers = requirements.map(compileRequirement);
  const [only] = matchers;
  const matches: LabelMatcher =
    matchers.length === 1 && only !== undefined
      ? only
      : (labels) => {
          for (const matcher of matchers) if (!matcher(labels)) return false;
          return true;
        };
  return {
    requirements,
    isEmpty: requirements.length === 0,
    matches,
    toString: () => requirements.map(formatRequirement).join(','),
  };
}

export const EVERYTHING: LabelSelector = compile([]);

export const NOTHING: LabelSelector = {
  requirements: [],
  isEmpty: false,
  matches: () => false,
  toString: () => '',
};

export const parseLabelSelector = (text: string): LabelSelector => {
  const requirements = parseRequirements(text);
  return requirements.length === 0 ? EVERYTHING : compile(requirements);
};

/** The map form, as in `service.spec.selector`. Values are taken as they are: they were validated at write. */
export const selectorFromSet = (labels: Labels | undefined): LabelSelector =>
  compile(
    Object.entries(labels ?? {})
      .map(([key, value]): LabelRequirement => ({ key, operator: '=', values: [value] }))
      .sort(byKey),
  );

const OBJECT_OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};

/** A missing selector selects nothing, an empty one everything. */
export function selectorFromObject(selector: LabelSelectorObject | null | undefined): LabelSelector {
  if (selector === null || selector === undefined) return NOTHING;
  const requirements = Object.entries(selector.matchLabels ?? {}).map(([key, value]) =>
    labelRequirement(key, '=', [value]),
  );
  for (const expression of selector.matchExpressions ?? []) {
    const operator = Object.hasOwn(OBJECT_OPERATORS, expression.operator)
      ? OBJECT_OPERATORS[expression.operator]
      : undefined;
    if (operator === undefined)
      throw new ReasonError(
        'SelectorInvalid',
        `${goQuote(expression.operator)} is not a valid label selector operator`,
      );
    requirements.push(labelRequirement(expression.key, operator, expression.values ?? []));
  }
  return requirements.length === 0 ? EVERYTHING : compile(requirements.sort(byKey));
}

/**
 * For what looks through all objects of a kind: a stored selector that no longer parses selects nothing, so one object
 * cannot keep the others from being looked at. Never for an object's own work, which would continue as if it had no pods.
 */
export function selectorOrNothing(parse: () => LabelSelector): LabelSelector {
  try {
    return parse();
  } catch (error) {
    if (error instanceof ReasonError) return NOTHING;
    throw error;
  }
}

/** For tables and logs; never throws. */
export function formatLabelSelector(selector: LabelSelectorObject | null | undefined): string {
  try {
    return selectorFromObject(selector).toString() || '<none>';
  } catch (error) {
    if (error instanceof ReasonError) return '<error>';
    throw error;
  }
}

/** The one value the selector demands of a label, where it demands one: lets a caller use an index. */
export function requiredLabelValue(selector: LabelSelector, key: string): string | undefined {
  const requirement = selector.requirements.find((candidate) => candidate.key === key);
  if (requirement === undefined || requirement.values.length !== 1) return undefined;
  return ['=', '==', 'in'].includes(requirement.operator) ? requirement.values[0] : undefined;
}
