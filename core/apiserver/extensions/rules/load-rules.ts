import { createPace } from '../../discovery/openapi/pace.ts';
import type { CheckRules } from '../serving/version-model.ts';
import type { Structural } from '../structural/structural.ts';
import { evaluateRules } from './evaluate-rules.ts';
import { buildRules } from './rule-tree.ts';

/** Compiles the rules of a schema; undefined where it has none. */
export const loadRules = async (schema: Structural): Promise<CheckRules | undefined> => {
  const root = await buildRules(schema, createPace());
  return root && ((object, old, correlated) => evaluateRules(root, object, old, correlated));
};
