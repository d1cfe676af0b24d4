import { maybeObj, objs, str } from '../../../api/validation/read.ts';
import type { Version } from '../../../cel/index.ts';
import type { Cel } from '../expressions/cel.ts';
import { compileAll, compileExpression, type CompiledExpression } from '../expressions/compile.ts';
import { compileHead, type CompiledHead } from './compiled-policy.ts';
import { JSON_PATCH_TYPE, OBJECT_TYPE, patchStructs } from './patch-types.ts';
import type { Policy } from './policy.ts';

export interface CompiledMutation {
  readonly type: 'ApplyConfiguration' | 'JSONPatch';
  readonly expression: CompiledExpression;
}

export interface CompiledMutatingPolicy {
  readonly head: CompiledHead;
  readonly mutations: readonly CompiledMutation[];
}

export const compileMutatingPolicy = async (
  cel: Cel,
  policy: Pick<Policy, 'paramKind' | 'variables' | 'conditions' | 'spec'>,
  version: Version = 'stored',
): Promise<CompiledMutatingPolicy> => {
  const { listOf, structOf } = cel.types;
  const head = await compileHead(cel, version, policy);
  const environment = head.environment(true, { structs: patchStructs(cel) });
  return {
    head,
    mutations: await compileAll(objs(policy.spec, 'mutations'), (mutation): CompiledMutation => {
      const isPatch = str(mutation, 'patchType') === 'JSONPatch';
      const of = maybeObj(mutation, isPatch ? 'jsonPatch' : 'applyConfiguration');
      const wanted = isPatch ? listOf(structOf(JSON_PATCH_TYPE)) : structOf(OBJECT_TYPE);
      return {
        type: isPatch ? 'JSONPatch' : 'ApplyConfiguration',
        expression: compileExpression(cel, environment, of ? str(of, 'expression') : '', [wanted]),
      };
    }),
  };
};
