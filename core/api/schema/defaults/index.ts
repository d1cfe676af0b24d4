import { isJsonObject } from '../../meta/object-meta.ts';
import type { FieldType, StructType, TypeNode } from '../types.ts';
import { CLUSTER_DEFAULTERS } from './cluster.ts';
import { CORE_DEFAULTERS } from './core.ts';
import type { Defaulter, DefaultsContext, Fields } from './defaulter.ts';
import { POD_DEFAULTERS } from './pod.ts';
import { WORKLOAD_DEFAULTERS } from './workloads.ts';

export type { DefaultsContext } from './defaulter.ts';
export { pullPolicyOf } from './pod.ts';

const DEFAULTERS: Readonly<Record<string, Defaulter | undefined>> = {
  ...POD_DEFAULTERS,
  ...CORE_DEFAULTERS,
  ...WORKLOAD_DEFAULTERS,
  ...CLUSTER_DEFAULTERS,
};

/** Types that have a defaulter; a test holds them against the models. */
export const typesWithDefaulter = (): readonly string[] => Object.keys(DEFAULTERS);

/** A zero is what an absent field means already; only booleans with a default are told from absent ones. */
const staticDefaultOf = ({ default: value }: FieldType): unknown =>
  value === '' || value === 0 ? undefined : value;

const isReached = new Map<string, boolean>();

/** Whether anything in or below the type has a default: the rest of an object need not be visited. */
const hasDefaults = (struct: StructType, above: ReadonlySet<string> = new Set()): boolean => {
  const known = isReached.get(struct.id);
  if (known !== undefined) return known;
  if (above.has(struct.id)) return false;
  const path = new Set(above).add(struct.id);
  const found =
    DEFAULTERS[struct.id] !== undefined ||
    [...struct.fields.values()].some((field) => {
      const inside = structIn(field.type);
      return staticDefaultOf(field) !== undefined || (inside !== undefined && hasDefaults(inside, path));
    });
  // Inside a circle a "no" may only mean "not by this way"; the outermost call knows.
  if (found || above.size === 0) isReached.set(struct.id, found);
  return found;
};

const structIn = (type: TypeNode): StructType | undefined => {
  if (type.node === 'list') return structIn(type.items);
  if (type.node === 'map') return structIn(type.values);
  return type.node === 'struct' ? type.struct : undefined;
};

const visit = (type: TypeNode, value: unknown, context: DefaultsContext): void => {
  if (type.node === 'list' && Array.isArray(value))
    for (const item of value) visit(type.items, item, context);
  if (!isJsonObject(value)) return;
  if (type.node === 'map') for (const item of Object.values(value)) visit(type.values, item, context);
  if (type.node === 'struct') visitStruct(type.struct, value, context);
};

/** What a struct's visit has to look at, found once: its own rule, static defaults, and fields with some below. */
interface Plan {
  readonly own: Defaulter | undefined;
  readonly statics: readonly { readonly name: string; readonly value: unknown }[];
  readonly below: readonly FieldType[];
}

const plans = new WeakMap<StructType, Plan>();

const planOf = (struct: StructType): Plan => {
  const known = plans.get(struct);
  if (known) return known;
  const fields = [...struct.fields.values()];
  const plan = {
    own: DEFAULTERS[struct.id],
    statics: fields
      .map((field) => ({ name: field.name, value: staticDefaultOf(field) }))
      .filter(({ value }) => value !== undefined),
    below: fields.filter((field) => {
      const inside = structIn(field.type);
      return inside !== undefined && hasDefaults(inside);
    }),
  };
  plans.set(struct, plan);
  return plan;
};

const visitStruct = (struct: StructType, value: Fields, context: DefaultsContext): void => {
  const plan = planOf(struct);
  plan.own?.(value, context);
  for (const field of plan.below) visitField(field, value, context);
  for (const { name, value: fallback } of plan.statics)
    if (value[name] === undefined || value[name] === '') value[name] = fallback;
};

const visitField = (field: FieldType, value: Fields, context: DefaultsContext): void => {
  const absent = value[field.name] === undefined;
  if (absent && !field.byValue) return;
  const content = (value[field.name] ??= {});
  visit(field.type, content, context);
  if (absent && Object.keys(content as Fields).length === 0) delete value[field.name];
};

/**
 * Sets in place what upstream's defaulting sets, the outer type before what is inside it. `object` must be
 * decoded: every field that is there has its type.
 */
export const applyDefaults = (
  struct: StructType,
  object: Record<string, unknown>,
  context: DefaultsContext,
): void => {
  if (hasDefaults(struct)) visitStruct(struct, object, context);
};
