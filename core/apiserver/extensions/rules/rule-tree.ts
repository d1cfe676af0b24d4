import { schemaType, type StructuralSchema } from '../../../cel/index.ts';
import type { Pace } from '../../discovery/openapi/pace.ts';
import type { Structural } from '../structural/structural.ts';
import { RuleCompiler, type CompiledRule } from './compile-rules.ts';

/** The rules of a schema, in its shape; parts without rules here or below are left out. */
export interface RuleNode {
  readonly schema: Structural;
  readonly rules: readonly CompiledRule[];
  readonly problem: string | undefined;
  readonly properties: ReadonlyMap<string, RuleNode>;
  readonly values: RuleNode | undefined;
  readonly items: RuleNode | undefined;
}

const hasRules = (schema: Structural | undefined): boolean =>
  schema !== undefined &&
  ((schema.schema['x-kubernetes-validations'] ?? []).length > 0 ||
    [...schema.properties.values(), schema.values, schema.items].some(hasRules));

/** A few rules a turn of the event loop: kilobytes of them take their time. */
const build = async (schema: Structural, isRoot: boolean, pace: Pace): Promise<RuleNode | undefined> => {
  if (!hasRules(schema)) return undefined;
  const sources = schema.schema['x-kubernetes-validations'] ?? [];
  const rules: CompiledRule[] = [];
  let problem: string | undefined;
  if (sources.length > 0) {
    const compiler = new RuleCompiler(schema, isRoot || schema.isEmbedded, () => 'stored');
    if (compiler.self === undefined) problem = 'failed to convert to declType for CEL validation rules';
    else
      for (const rule of sources) {
        rules.push(await compiler.compile(rule, pace));
        const turn = pace();
        if (turn) await turn;
      }
  }
  const properties = new Map<string, RuleNode>();
  for (const [name, property] of schema.properties) {
    // Fields of which expressions see nothing are not validated by them.
    if (hasRules(property) && schemaType(property.schema as StructuralSchema) === undefined) continue;
    const node = await build(property, false, pace);
    if (node) properties.set(name, node);
  }
  return {
    schema,
    rules,
    problem,
    properties,
    values: schema.values && (await build(schema.values, false, pace)),
    items: schema.items && (await build(schema.items, false, pace)),
  };
};

/** Undefined for a schema without rules. */
export const buildRules = (schema: Structural, pace: Pace): Promise<RuleNode | undefined> =>
  build(schema, true, pace);
