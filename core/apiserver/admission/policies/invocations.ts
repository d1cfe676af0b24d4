import { notFound, type KubernetesObject } from '../../../api/meta/index.ts';
import { messageOf } from '../../../base/errors.ts';
import type { AdmissionAttributes, ServedAs } from '../attributes.ts';
import { readNamespace } from '../match/selectors.ts';
import { NAMESPACES } from '../matching.ts';
import type { FindResource } from '../kind-finder.ts';
import type { ConvertCustom, ObjectReader } from '../../storage/object-reader.ts';
import { collectParams, missingParamKind } from './params.ts';
import { matchRequest, namespaceOf } from './policy-matching.ts';
import type { BoundPolicy } from './policy-table.ts';
import type { Binding, Policy } from './policy.ts';

/** One evaluation that a request asks for: a policy, a binding of it, and a parameter, if it has any. */
export interface PolicyInvocation {
  readonly policy: Policy;
  readonly binding: Binding;
  readonly matched: ServedAs;
  readonly param: KubernetesObject | undefined;
}

/** A policy or binding that cannot be decided about. */
export interface ConfigurationError {
  readonly policy: Policy;
  readonly binding: Binding | undefined;
  readonly message: string;
}

export interface InvocationSources {
  readonly reader: ObjectReader;
  readonly findResource: FindResource;
  readonly convertCustom: ConvertCustom;
}

/** Which evaluations of a policy are about a request. */
export const invocationsOf = async (
  { policy, bindings }: BoundPolicy,
  attributes: AdmissionAttributes,
  { reader, findResource: find, convertCustom }: InvocationSources,
): Promise<{
  readonly invocations: readonly PolicyInvocation[];
  readonly errors: readonly ConfigurationError[];
}> => {
  const errors: ConfigurationError[] = [];
  const failed = (error: unknown, binding: Binding | undefined): void => {
    const what = binding ? 'binding' : 'policy';
    errors.push({ policy, binding, message: `failed to configure ${what}: ${messageOf(error)}` });
  };
  let matched: ServedAs | undefined;
  try {
    if (!policy.constraints) throw new Error('policy contained no match constraints, a required field');
    matched = await matchRequest(policy.constraints, attributes, reader);
    if (!matched) return { invocations: [], errors };
    const missing = await missingParamKind(policy, find);
    if (missing !== undefined) throw new Error(missing);
  } catch (error) {
    failed(error, undefined);
    return { invocations: [], errors };
  }
  const invocations: PolicyInvocation[] = [];
  for (const binding of bindings)
    try {
      if (binding.resources && !(await matchRequest(binding.resources, attributes, reader))) continue;
      const params = await collectParams(policy, binding, attributes.namespace, {
        reader,
        find,
        convertCustom,
      });
      for (const param of params) invocations.push({ policy, binding, matched, param });
    } catch (error) {
      failed(error, binding);
    }
  return { invocations, errors };
};

/** The namespace that expressions see, or undefined for what is in none. */
export const namespaceObjectOf = async (
  attributes: AdmissionAttributes,
  reader: ObjectReader,
): Promise<KubernetesObject | undefined> => {
  const name = namespaceOf(attributes);
  if (name === '') return undefined;
  const found = await readNamespace(reader, name);
  if (!found) throw notFound(NAMESPACES, name);
  return found;
};
