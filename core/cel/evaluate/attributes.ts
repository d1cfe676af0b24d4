import { access, isPresent, lookUp } from '../values/access.ts';
import { CelError, CelOptional, NO_SUCH_OVERLOAD, type Value, error } from '../values/value.ts';
import type { Frame, Step } from './frame.ts';

/** One `.field` or `[index]` of a path. Costs one, as each does upstream, plus what its key costs. */
interface Qualifier {
  readonly key: Value | Step;
  /** `.?field` or `[?index]` */
  readonly optional: boolean;
  /** `has(...)` */
  readonly testOnly: boolean;
}

/**
 * A path: a variable, another value or a choice of two paths, and what is selected from it. Upstream evaluates paths
 * in one go, and its costs follow from that: a path has the cost of its first name and of each selection, but a path
 * that serves as index or as branch of a conditional does not pay for its first name.
 */
export type Attribute =
  | { readonly kind: 'path'; readonly base: Step; readonly qualifiers: readonly Qualifier[] }
  | {
      readonly kind: 'choice';
      readonly condition: Step;
      readonly truthy: Attribute;
      readonly falsy: Attribute;
    };

export const qualified = (attribute: Attribute, qualifier: Qualifier): Attribute =>
  attribute.kind === 'path'
    ? { ...attribute, qualifiers: [...attribute.qualifiers, qualifier] }
    : {
        ...attribute,
        truthy: qualified(attribute.truthy, qualifier),
        falsy: qualified(attribute.falsy, qualifier),
      };

const keyStep = (key: Value | Step): Step | undefined => (typeof key === 'function' ? key : undefined);

const qualify = ({ key, testOnly }: Qualifier): ((frame: Frame, of: Value) => Value) => {
  const dynamic = keyStep(key);
  if (dynamic !== undefined)
    return (frame, of) => {
      const value = dynamic(frame);
      frame.charge(1);
      return value instanceof CelError ? value : access(of, value);
    };
  const constant = key as Value;
  if (testOnly)
    return (frame, of) => {
      frame.charge(1);
      return isPresent(of, constant);
    };
  return (frame, of) => {
    frame.charge(1);
    return access(of, constant);
  };
};

/** As `qualify`, for a path with an optional part before: undefined for what is missing, which costs nothing. */
const qualifyIfPresent = ({ key, testOnly }: Qualifier): ((frame: Frame, of: Value) => Value | undefined) => {
  const dynamic = keyStep(key);
  return (frame, of) => {
    const value = dynamic === undefined ? (key as Value) : dynamic(frame);
    if (value instanceof CelError) return value;
    let found: Value | undefined;
    if (testOnly) {
      const present = isPresent(of, value);
      found = present === false ? undefined : present;
    } else found = lookUp(of, value);
    if (found !== undefined && !(found instanceof CelError)) frame.charge(1);
    return found;
  };
};

type Reader = (frame: Frame, of: Value) => Value;

const plainReader = (qualifiers: readonly Qualifier[]): Reader => {
  const steps = qualifiers.map(qualify);
  if (steps.length === 1) return steps[0]!;
  return (frame, of) => {
    let value = of;
    for (const step of steps) {
      value = step(frame, value);
      if (value instanceof CelError) return value;
    }
    return value;
  };
};

const optionalReader = (qualifiers: readonly Qualifier[]): Reader => {
  const steps = qualifiers.map(qualifyIfPresent);
  return (frame, of) => {
    let value = of;
    for (const step of steps) {
      const next = step(frame, value);
      if (next === undefined) return CelOptional.none;
      if (next instanceof CelError) return next;
      value = next;
    }
    return value instanceof CelOptional && steps.length === 0 ? value : CelOptional.of(value);
  };
};

const pathStep = (base: Step, qualifiers: readonly Qualifier[]): Step => {
  if (qualifiers.length === 0) return base;
  const firstOptional = qualifiers.findIndex(({ optional }) => optional);
  const plain =
    firstOptional === 0
      ? undefined
      : plainReader(qualifiers.slice(0, firstOptional < 0 ? undefined : firstOptional));
  const optional = firstOptional < 0 ? undefined : optionalReader(qualifiers.slice(firstOptional));
  const allOptional = optionalReader(qualifiers);
  return (frame) => {
    let value = base(frame);
    if (value instanceof CelError) return value;
    if (value instanceof CelOptional)
      return value.value === undefined ? value : allOptional(frame, value.value);
    if (plain !== undefined) {
      value = plain(frame, value);
      if (optional === undefined || value instanceof CelError) return value;
    }
    return optional!(frame, value);
  };
};

/** The value of a path, without the cost of its first name. */
export const resolveStep = (attribute: Attribute): Step => {
  if (attribute.kind === 'path') return pathStep(attribute.base, attribute.qualifiers);
  const { condition } = attribute;
  const truthy = resolveStep(attribute.truthy);
  const falsy = resolveStep(attribute.falsy);
  return (frame) => {
    const value = condition(frame);
    if (value === true) return truthy(frame);
    if (value === false) return falsy(frame);
    return value instanceof CelError ? value : NO_SUCH_OVERLOAD;
  };
};

/** The value of a path as an expression of its own. */
export const attributeStep = (attribute: Attribute): Step => {
  const resolve = resolveStep(attribute);
  if (attribute.kind === 'choice') return resolve;
  return (frame) => {
    const value = resolve(frame);
    frame.charge(1);
    return value;
  };
};

/** `has(path.field)`, which upstream keeps free of the cost of the first name. */
export const presenceStep = (attribute: Attribute): Step => {
  const resolve = resolveStep(attribute);
  // A choice was never charged for a first name, and upstream gives it back all the same.
  const refund = attribute.kind === 'choice' ? 1 : 0;
  return (frame) => {
    const value = resolve(frame);
    frame.cost -= refund;
    return value instanceof CelOptional ? value.value !== undefined : value;
  };
};

export const missingVariable = (name: string): CelError => error(`no such attribute(s): ${name}`);
