import { shell } from '../base/shell-words.ts';
import type { V1ClusterRole, V1PolicyRule, V1RoleBinding, V1ServiceAccount } from '../api/schema/index.ts';
import { say } from '../contract/index.ts';
import { idOf, metaOf, reasonOf, type Denial, type GraphBuilder } from './graph-builder.ts';

const isSubject = (
  { subjects }: V1RoleBinding,
  bindingNamespace: string,
  account: { readonly namespace: string; readonly name: string },
): boolean =>
  (subjects ?? []).some(
    ({ kind, name, namespace }) =>
      kind === 'ServiceAccount' &&
      name === account.name &&
      (namespace ?? bindingNamespace) === account.namespace,
  );

/** Bindings to groups count for what is allowed, but every account has them: they are not drawn. */
const isInGroup = ({ subjects }: V1RoleBinding, account: { readonly namespace: string }): boolean =>
  (subjects ?? []).some(
    ({ kind, name }) =>
      kind === 'Group' &&
      [
        'system:serviceaccounts',
        `system:serviceaccounts:${account.namespace}`,
        'system:authenticated',
      ].includes(name),
  );

const allows = ({ verbs, apiGroups, resources, resourceNames }: V1PolicyRule, denial: Denial): boolean => {
  const has = (list: readonly string[] | undefined, value: string): boolean =>
    (list ?? []).includes('*') || (list ?? []).includes(value);
  const [, subresource] = denial.resource.split('/');
  return (
    has(verbs, denial.verb) &&
    has(apiGroups, denial.group) &&
    (has(resources, denial.resource) || (subresource !== undefined && has(resources, `*/${subresource}`))) &&
    ((resourceNames ?? []).length === 0 || (resourceNames ?? []).includes(denial.name))
  );
};

interface Bound {
  readonly binding: V1RoleBinding;
  readonly kind: 'RoleBinding' | 'ClusterRoleBinding';
}

const bindingsOf = (b: GraphBuilder): readonly Bound[] => [
  ...b.all<V1RoleBinding>('RoleBinding').map((binding) => ({ binding, kind: 'RoleBinding' as const })),
  ...b
    .all<V1RoleBinding>('ClusterRoleBinding')
    .map((binding) => ({ binding, kind: 'ClusterRoleBinding' as const })),
];

const roleOf = (b: GraphBuilder, { binding }: Bound): V1ClusterRole | undefined => {
  const { kind, name } = binding.roleRef;
  return kind === 'Role' ? b.get('Role', metaOf(binding).namespace, name) : b.get('ClusterRole', '', name);
};

/** `web-list-pods`: a name for the role that is missing. */
const roleName = ({ account, verb, resource }: Denial): string =>
  `${account.name}-${verb}-${resource.replaceAll('/', '-')}`.slice(0, 63);

const repairOf = (denial: Denial): string => {
  const { account, verb, group, resource, namespace } = denial;
  const name = roleName(denial);
  const [plural = '', subresource] = resource.split('/');
  const target = `${plural}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`;
  const who = [`--serviceaccount=${account.namespace}:${account.name}`];
  return namespace === ''
    ? shell`kubectl create clusterrole ${name} --verb=${verb} --resource=${target} && kubectl create clusterrolebinding ${name} --clusterrole=${name} ${who}`
    : shell`kubectl -n ${namespace} create role ${name} --verb=${verb} --resource=${target} && kubectl -n ${namespace} create rolebinding ${name} --role=${name} ${who}`;
};

const addDenials = (b: GraphBuilder, account: V1ServiceAccount, bound: readonly Bound[]): void => {
  const { namespace, name } = metaOf(account);
  for (const denial of b.input.denials) {
    if (denial.account.namespace !== namespace || denial.account.name !== name) continue;
    // What has been granted since is repaired.
    const isGranted = bound.some(
      (one) =>
        (one.kind === 'ClusterRoleBinding' || metaOf(one.binding).namespace === denial.namespace) &&
        (roleOf(b, one)?.rules ?? []).some((rule) => allows(rule, denial)),
    );
    if (isGranted) continue;
    const { verb, resource, count } = denial;
    const missing = b.standIn(
      denial.namespace === '' ? 'ClusterRole' : 'Role',
      'rbac.authorization.k8s.io',
      denial.namespace,
      roleName(denial),
      'missing',
    );
    b.edge(idOf('ServiceAccount', namespace, name), missing, 'grants', [
      reasonOf(
        'error',
        say('graph.roleRuleMissing', { verb, resource, count }),
        say('graph.fix.roleRuleMissing', { verb, resource, account: `${namespace}/${name}` }),
        repairOf(denial),
      ),
    ]);
  }
};

/** Service accounts, what is bound to them, and what they were denied. */
export const addAccess = (b: GraphBuilder): void => {
  const bindings = bindingsOf(b);
  for (const account of b.all<V1ServiceAccount>('ServiceAccount')) {
    const { namespace, name } = metaOf(account);
    const id = idOf('ServiceAccount', namespace, name);
    const own = bindings.filter(({ binding }) =>
      isSubject(binding, metaOf(binding).namespace, { namespace, name }),
    );
    for (const { binding, kind } of own)
      b.edge(id, idOf(kind, metaOf(binding).namespace, metaOf(binding).name), 'isBound');
    const canJudge = !['Role', 'RoleBinding', 'ClusterRole', 'ClusterRoleBinding'].some((kind) =>
      b.input.unread.has(kind as 'Role'),
    );
    if (canJudge)
      addDenials(b, account, [
        ...own,
        ...bindings.filter(({ binding }) => isInGroup(binding, { namespace })),
      ]);
  }
  for (const { binding, kind } of bindings) {
    const { namespace, name } = metaOf(binding);
    const role = binding.roleRef;
    if (role.kind !== 'Role' && role.kind !== 'ClusterRole') continue;
    b.refer(idOf(kind, namespace, name), { kind: role.kind, namespace, name: role.name }, 'grants', {
      command:
        role.kind === 'Role'
          ? shell`kubectl -n ${namespace} create role ${role.name} --verb=VERB --resource=RESOURCE`
          : shell`kubectl create clusterrole ${role.name} --verb=VERB --resource=RESOURCE`,
    });
  }
};
