import { structOfKind } from '../../../api/schema/index.ts';
import { registryOf } from '../../../api/scheme/index.ts';
import { parseApiVersion, type GroupVersionKind, type KubernetesObject } from '../../../api/meta/index.ts';
import { objs, str } from '../../../api/validation/read.ts';
import type { Environment, SchemaType } from '../../../cel/index.ts';
import type { Cel } from '../expressions/cel.ts';
import { createPace } from '../../discovery/openapi/pace.ts';
import { compileHead } from './compiled-policy.ts';
import { policyOf, type Policy } from './policy.ts';
import { structuralSchemaOf } from './structural-types.ts';

/** As upstream bounds it. */
const KINDS_MAX = 10;

export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

const hasWildcard = (texts: readonly string[]): boolean => texts.some((text) => text.includes('*'));

/** The kinds that a policy's rules name; a rule with wildcards names none. */
const kindsOf = ({ constraints }: Policy, minor: number): readonly GroupVersionKind[] => {
  const scheme = registryOf(minor);
  const found = new Map<string, GroupVersionKind>();
  for (const { apiGroups, apiVersions, resources } of constraints?.rules ?? []) {
    if (hasWildcard(apiGroups) || hasWildcard(apiVersions)) continue;
    for (const group of [...apiGroups].sort())
      for (const version of [...apiVersions].sort())
        for (const resource of resources.filter((name) => !/[*/]/.test(name)).sort()) {
          const type = scheme.findByResource({ group, version, resource });
          if (type && found.size < KINDS_MAX)
            found.set(`${group}/${version}/${type.kind}`, { group, version, kind: type.kind });
        }
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, kind]) => kind);
};

const typeOf = (cel: Cel, kind: GroupVersionKind, minor: number): SchemaType | undefined => {
  const struct = structOfKind(kind, minor);
  return struct && cel.schemaType(structuralSchemaOf(struct), { name: kind.kind, isResourceRoot: true });
};

/**
 * What expressions of a policy get wrong about the kinds that it is about: fields that do not exist, comparisons that
 * cannot hold. Only a warning, since a policy may be about several kinds and ask first which one it sees.
 */
export const checkTypes = async (
  cel: Cel,
  object: KubernetesObject,
  minor: number,
): Promise<readonly ExpressionWarning[]> => {
  const policy = policyOf(object);
  const version = policy.paramKind && parseApiVersion(policy.paramKind.apiVersion);
  const params =
    version && policy.paramKind && typeOf(cel, { ...version, kind: policy.paramKind.kind }, minor);
  const environments: { readonly kind: GroupVersionKind; readonly environment: Environment }[] = [];
  for (const kind of kindsOf(policy, minor)) {
    const type = typeOf(cel, kind, minor);
    if (!type) continue;
    const head = await compileHead(cel, 'stored', { ...policy, conditions: [] }, { object: type, params });
    environments.push({ kind, environment: head.environment(true) });
  }
  const pace = createPace();
  const warnings: ExpressionWarning[] = [];
  const check = async (fieldRef: string, expression: string): Promise<void> => {
    const texts: string[] = [];
    for (const { kind, environment } of environments) {
      const compiled = await environment.compileInTurns(expression, pace);
      if (!compiled.ok) texts.push(`${kind.group}/${kind.version}, Kind=${kind.kind}: ${compiled.text}\n`);
    }
    if (texts.length > 0) warnings.push({ fieldRef, warning: texts.join('\n') });
  };
  for (const [at, validation] of objs(policy.spec, 'validations').entries()) {
    const path = `spec.validations[${at}]`;
    await check(`${path}.expression`, str(validation, 'expression'));
    const messageExpression = str(validation, 'messageExpression');
    if (messageExpression !== '') await check(`${path}.messageExpression`, messageExpression);
  }
  return warnings;
};
