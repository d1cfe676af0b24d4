import { CLUSTER_ROLE_BINDING, ROLE_BINDING, type Client } from '../../core/client/index.ts';
import {
  SUBJECTS_MAX,
  type AccessQuestion,
  type RulesAnswer,
  type RulesQuestion,
  type WhoCanAnswer,
} from '../../core/contract/index.ts';
import { kubeFailure } from '../kube/failure.ts';

const GROUP = 'authorization.k8s.io';
const REVIEWS_AT_ONCE = 8;
const BINDINGS_PER_PAGE = 500;

type Subject = Pick<RulesQuestion, 'kind' | 'name' | 'namespace'>;

interface BindingSubject {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

/** As the API server authenticates it. */
export const identityOf = ({ kind, name, namespace }: Subject): { user: string; groups: string[] } => {
  if (kind === 'ServiceAccount')
    return {
      user: `system:serviceaccount:${namespace}:${name}`,
      groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    };
  if (kind === 'User') return { user: name, groups: ['system:authenticated'] };
  // Reviews need a user: one that nothing is bound to.
  return { user: 'pilothouse:member-of-group', groups: [name] };
};

const keyOf = ({ kind, namespace, name }: Subject): string => `${kind}\0${namespace}\0${name}`;

/** Everybody whom a binding names; permissions of webhooks and ABAC files have no list. */
const subjectsOf = async (client: Client): Promise<readonly Subject[]> => {
  const found = new Map<string, Subject>();
  const add = (subjects: readonly BindingSubject[] | undefined): void => {
    for (const { kind, name, namespace = '' } of subjects ?? []) {
      if (kind !== 'User' && kind !== 'Group' && kind !== 'ServiceAccount') continue;
      const subject: Subject = { kind, name, namespace };
      found.set(keyOf(subject), subject);
    }
  };
  const query = { limit: BINDINGS_PER_PAGE };
  for await (const { subjects } of client.resource(CLUSTER_ROLE_BINDING).iterate(query)) add(subjects);
  for await (const { subjects } of client.resource(ROLE_BINDING).iterate(query)) add(subjects);
  return [...found.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
};

interface Review {
  readonly status?: { readonly allowed?: boolean; readonly reason?: string };
}

/** Asks the server about every subject of a binding: its answer counts, whatever the bindings seem to say. */
export const whoCan = async (
  client: Client,
  { verb, group, resource, subresource, namespace, name }: Omit<AccessQuestion, 'cluster'>,
): Promise<WhoCanAnswer> => {
  try {
    const all = await subjectsOf(client);
    const waiting = all.slice(0, SUBJECTS_MAX);
    const allowed = new Map<Subject, string>();
    const resourceAttributes = { verb, group, resource, subresource, namespace, name };
    const worker = async (): Promise<void> => {
      for (let subject = waiting.shift(); subject; subject = waiting.shift()) {
        const { status } = await client.json<Review>({
          method: 'POST',
          path: `/apis/${GROUP}/v1/subjectaccessreviews`,
          body: {
            apiVersion: `${GROUP}/v1`,
            kind: 'SubjectAccessReview',
            spec: { ...identityOf(subject), resourceAttributes },
          },
        });
        if (status?.allowed === true) allowed.set(subject, status.reason ?? '');
      }
    };
    const asked = waiting.length;
    await Promise.all(Array.from({ length: REVIEWS_AT_ONCE }, worker));
    return {
      allowed: all.flatMap((subject) => {
        const reason = allowed.get(subject);
        return reason === undefined ? [] : [{ ...subject, reason }];
      }),
      asked,
      isTruncated: all.length > asked,
    };
  } catch (error) {
    throw kubeFailure(error);
  }
};

interface RulesReview {
  readonly status?: {
    readonly resourceRules?: readonly {
      readonly verbs?: readonly string[];
      readonly apiGroups?: readonly string[];
      readonly resources?: readonly string[];
      readonly resourceNames?: readonly string[];
    }[];
    readonly nonResourceRules?: readonly {
      readonly verbs?: readonly string[];
      readonly nonResourceURLs?: readonly string[];
    }[];
    readonly incomplete?: boolean;
    readonly evaluationError?: string;
  };
}

/** What a subject may do, as the server tells the subject itself: the request impersonates it. */
export const rulesOf = async (
  client: Client,
  { inNamespace, ...subject }: Omit<RulesQuestion, 'cluster'>,
): Promise<RulesAnswer> => {
  try {
    const { status } = await client.as(identityOf(subject)).json<RulesReview>({
      method: 'POST',
      path: `/apis/${GROUP}/v1/selfsubjectrulesreviews`,
      body: {
        apiVersion: `${GROUP}/v1`,
        kind: 'SelfSubjectRulesReview',
        spec: { namespace: inNamespace === '' ? 'default' : inNamespace },
      },
    });
    return {
      rules: [
        ...(status?.resourceRules ?? []).map((rule) => ({
          verbs: [...(rule.verbs ?? [])],
          groups: [...(rule.apiGroups ?? [])],
          resources: [...(rule.resources ?? [])],
          names: [...(rule.resourceNames ?? [])],
          paths: [],
        })),
        ...(status?.nonResourceRules ?? []).map((rule) => ({
          verbs: [...(rule.verbs ?? [])],
          groups: [],
          resources: [],
          names: [],
          paths: [...(rule.nonResourceURLs ?? [])],
        })),
      ],
      isIncomplete: status?.incomplete === true,
      problem: status?.evaluationError ?? '',
    };
  } catch (error) {
    throw kubeFailure(error);
  }
};
