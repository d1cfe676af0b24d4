import type { UserInfo } from '../../server/user.ts';
import { allow, noOpinion, type Authorizer } from '../authorizer.ts';
import type { PolicyIndex } from './policy-index.ts';
import { ruleAllows } from './rules.ts';
import type { PolicyRule } from './types.ts';

const aggregate = (messages: readonly string[]): string => {
  const distinct = [...new Set(messages)];
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`;
};

/** Role-based access control: nothing is allowed unless a rule of a bound role allows it. */
export const rbacAuthorizer = (index: PolicyIndex): Authorizer => ({
  authorize(attributes) {
    let source = '';
    const failures = index.visit(attributes.user, attributes.namespace, (rule, describe) => {
      if (!ruleAllows(rule, attributes)) return 'continue';
      source = describe();
      return 'stop';
    });
    if (source !== '') return allow(`RBAC: allowed by ${source}`);
    return noOpinion(failures.length === 0 ? '' : `RBAC: ${aggregate(failures)}`);
  },
});

export interface RulesFor {
  readonly rules: readonly PolicyRule[];
  /** Roles that could not be found; the list is then incomplete. */
  readonly failures: readonly string[];
}

export const rulesFor = (index: PolicyIndex, user: UserInfo, namespace: string): RulesFor => {
  const rules: PolicyRule[] = [];
  const failures = index.visit(user, namespace, (rule) => {
    rules.push(rule);
    return 'continue';
  });
  return { rules, failures };
};

/** The `status` of a SelfSubjectRulesReview. */
export interface SubjectRulesStatus {
  readonly resourceRules: readonly object[];
  readonly nonResourceRules: readonly object[];
  readonly incomplete: boolean;
  readonly evaluationError?: string;
}

export const subjectRulesStatus = (
  index: PolicyIndex,
  user: UserInfo,
  namespace: string,
): SubjectRulesStatus => {
  const { rules, failures } = rulesFor(index, user, namespace);
  const filled = (values: readonly string[] | undefined): boolean => (values ?? []).length > 0;
  return {
    resourceRules: rules
      .filter(({ resources }) => filled(resources))
      .map(({ verbs, apiGroups, resources, resourceNames }) => ({
        verbs,
        ...(filled(apiGroups) && { apiGroups }),
        resources,
        ...(filled(resourceNames) && { resourceNames }),
      })),
    nonResourceRules: rules
      .filter(({ nonResourceURLs }) => filled(nonResourceURLs))
      .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
    incomplete: failures.length > 0,
    ...(failures.length > 0 && { evaluationError: aggregate(failures) }),
  };
};
