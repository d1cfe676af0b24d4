import { goQuote } from '../../../api/field/go-text.ts';
import { isPrivileged, type UserInfo } from '../../server/user.ts';
import { resourceAttributes, type Authorizer } from '../authorizer.ts';
import type { PolicyIndex } from './policy-index.ts';
import { rulesFor } from './rbac-authorizer.ts';
import { compactRules, uncoveredRules } from './rules.ts';
import { RBAC_GROUP, type PolicyRule, type RoleRef } from './types.ts';

/**
 * No one grants more than they hold: a role may be written, and a binding made, only by who has every right in
 * it, or who was given the verb `escalate` on the role, or `bind` on the role that is referred to.
 */
export interface EscalationGuard {
  /** Undefined when allowed, else why not. `wanted` are the rules of the role as it will be. */
  checkRole(write: RoleWrite): Promise<string | undefined>;
  checkBinding(write: BindingWrite): Promise<string | undefined>;
}

export interface RoleWrite {
  readonly user: UserInfo;
  readonly resource: 'roles' | 'clusterroles';
  readonly namespace: string;
  readonly name: string;
  readonly wanted: readonly PolicyRule[];
}

export interface BindingWrite {
  readonly user: UserInfo;
  /** Of the binding; empty for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly roleRef: RoleRef;
}

const quoteList = (values: readonly string[]): string => `[${values.map(goQuote).join(' ')}]`;

const describeRule = (rule: PolicyRule): string => {
  const parts: [string, readonly string[] | undefined][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  return `{${parts
    .filter(([, values]) => (values ?? []).length > 0)
    .map(([name, values]) => `${name}:${quoteList(values ?? [])}`)
    .join(', ')}}`;
};

export const escalationGuard = (index: PolicyIndex, authorizer: Authorizer): EscalationGuard => {
  const missing = (user: UserInfo, namespace: string, wanted: readonly PolicyRule[]): string | undefined => {
    const { rules, failures } = rulesFor(index, user, namespace);
    const uncovered = uncoveredRules(rules, wanted);
    if (uncovered.length === 0) return undefined;
    const lines = [...new Set(compactRules(uncovered).map(describeRule))].sort();
    const errors = failures.length === 0 ? '' : `; resolution errors: [${failures.join(' ')}]`;
    return (
      `user ${goQuote(user.name)} (groups=${quoteList(user.groups)}) is attempting to grant RBAC permissions ` +
      `not currently held:\n${lines.join('\n')}${errors}`
    );
  };
  const may = async (
    user: UserInfo,
    verb: string,
    target: { resource: string; namespace: string; name: string },
  ) =>
    (
      await authorizer.authorize(
        resourceAttributes(user, { verb, apiGroup: RBAC_GROUP, apiVersion: '*', ...target }),
      )
    ).decision === 'allow';
  return {
    async checkRole({ user, resource, namespace, name, wanted }) {
      if (isPrivileged(user)) return undefined;
      if (await may(user, 'escalate', { resource, namespace, name })) return undefined;
      return missing(user, namespace, wanted);
    },
    async checkBinding({ user, namespace, roleRef }) {
      if (isPrivileged(user)) return undefined;
      const resource = roleRef.kind === 'ClusterRole' ? 'clusterroles' : 'roles';
      if (await may(user, 'bind', { resource, namespace, name: roleRef.name })) return undefined;
      return missing(user, namespace, index.rulesOf(roleRef, namespace));
    },
  };
};
