import type { AdmissionFigures } from '../../../core/contract/index.ts';
import { at, entriesAt, listAt, textAt, type KubeObject } from '../../kinds/kube-object.ts';

/** The lists that say what happens to a write before it is stored. */
export const ADMISSION_KINDS = [
  'mutatingwebhookconfigurations',
  'validatingwebhookconfigurations',
  'mutatingadmissionpolicies',
  'validatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
  'validatingadmissionpolicybindings',
] as const;
export type AdmissionKind = (typeof ADMISSION_KINDS)[number];
export type AdmissionLists = Partial<Readonly<Record<AdmissionKind, readonly KubeObject[]>>>;

/** One webhook of a configuration, or one policy with its bindings. */
export interface AdmissionEntry {
  readonly key: string;
  readonly source: AdmissionFigures['source'];
  readonly type: AdmissionFigures['type'];
  readonly name: string;
  /** The object it is part of, as the resource browser finds it. */
  readonly resource: AdmissionKind;
  readonly object: string;
  /** `CREATE, UPDATE apps/v1 deployments`, one line a rule. */
  readonly rules: readonly string[];
  /** Selectors and conditions that narrow the rules. */
  readonly limits: readonly string[];
  readonly failurePolicy: string;
  /** Of a webhook: whom it calls. */
  readonly target: string;
  /** Of a policy: `binding (Deny, Audit)`; one that is not bound does nothing. */
  readonly bindings: readonly string[];
  readonly figures: AdmissionFigures | undefined;
}

const words = (value: unknown): string => (Array.isArray(value) ? value.map(String).join(', ') : '');

const groupVersions = (rule: KubeObject): string => {
  const groups = Array.isArray(rule['apiGroups']) ? rule['apiGroups'].map(String) : [];
  const versions = Array.isArray(rule['apiVersions']) ? rule['apiVersions'].map(String) : [];
  return groups
    .flatMap((group) => versions.map((version) => (group === '' ? version : `${group}/${version}`)))
    .join(', ');
};

const ruleText = (rule: KubeObject): string => {
  const names = words(rule['resourceNames']);
  const scope = rule['scope'] === undefined || rule['scope'] === '*' ? '' : ` (${textAt(rule, 'scope')})`;
  return `${words(rule['operations'])} ${groupVersions(rule)} ${words(rule['resources'])}${names && ` ${names}`}${scope}`;
};

const selectorText = (selector: unknown): string =>
  [
    ...entriesAt(selector, 'matchLabels').map(([name, value]) => `${name}=${value}`),
    ...listAt(selector, 'matchExpressions').map((one) =>
      `${textAt(one, 'key')} ${textAt(one, 'operator')} ${words(one['values'])}`.trim(),
    ),
  ].join(', ');

const limitsOf = (match: unknown, conditions: readonly KubeObject[]): string[] => [
  ...(['namespaceSelector', 'objectSelector'] as const).flatMap((name) => {
    const text = selectorText(at(match, name));
    return text === '' ? [] : [`${name}: ${text}`];
  }),
  ...conditions.map((condition) => `${textAt(condition, 'name')}: ${textAt(condition, 'expression')}`),
];

const targetOf = (hook: KubeObject): string => {
  const url = textAt(hook, 'clientConfig', 'url');
  if (url !== '') return url;
  const part = (name: string): string => textAt(hook, 'clientConfig', 'service', name);
  return `${part('namespace')}/${part('name')}:${part('port') || '443'}${part('path')}`;
};

const figuresFor = (
  figures: readonly AdmissionFigures[],
  { source, type, name }: Pick<AdmissionEntry, 'source' | 'type' | 'name'>,
): AdmissionFigures | undefined =>
  figures.find((one) => one.source === source && one.type === type && one.name === name);

const webhookEntries = (
  lists: AdmissionLists,
  type: AdmissionFigures['type'],
  figures: readonly AdmissionFigures[],
): AdmissionEntry[] => {
  const resource = `${type}webhookconfigurations` as const;
  return (lists[resource] ?? []).flatMap((configuration) =>
    listAt(configuration, 'webhooks').map((hook) => {
      const object = textAt(configuration, 'metadata', 'name');
      const of = { source: 'webhook', type, name: textAt(hook, 'name') } as const;
      return {
        ...of,
        key: `${resource}/${object}/${of.name}`,
        resource,
        object,
        rules: listAt(hook, 'rules').map(ruleText),
        limits: limitsOf(hook, listAt(hook, 'matchConditions')),
        failurePolicy: textAt(hook, 'failurePolicy'),
        target: targetOf(hook),
        bindings: [],
        figures: figuresFor(figures, of),
      };
    }),
  );
};

const policyEntries = (
  lists: AdmissionLists,
  type: AdmissionFigures['type'],
  figures: readonly AdmissionFigures[],
): AdmissionEntry[] => {
  const resource = `${type}admissionpolicies` as const;
  const bindings = lists[`${type}admissionpolicybindings`] ?? [];
  return (lists[resource] ?? []).map((policy) => {
    const name = textAt(policy, 'metadata', 'name');
    const of = { source: 'policy', type, name } as const;
    const constraints = at(policy, 'spec', 'matchConstraints');
    return {
      ...of,
      key: `${resource}/${name}`,
      resource,
      object: name,
      rules: listAt(constraints, 'resourceRules').map(ruleText),
      limits: limitsOf(constraints, listAt(policy, 'spec', 'matchConditions')),
      failurePolicy: textAt(policy, 'spec', 'failurePolicy'),
      target: '',
      bindings: bindings
        .filter((binding) => textAt(binding, 'spec', 'policyName') === name)
        .map((binding) => {
          const actions = words(at(binding, 'spec', 'validationActions'));
          return `${textAt(binding, 'metadata', 'name')}${actions && ` (${actions})`}`;
        }),
      figures: figuresFor(figures, of),
    };
  });
};

/** In the order in which a write meets them. */
export const admissionEntries = (
  lists: AdmissionLists,
  figures: readonly AdmissionFigures[],
): AdmissionEntry[] => [
  ...policyEntries(lists, 'mutating', figures),
  ...webhookEntries(lists, 'mutating', figures),
  ...policyEntries(lists, 'validating', figures),
  ...webhookEntries(lists, 'validating', figures),
];
