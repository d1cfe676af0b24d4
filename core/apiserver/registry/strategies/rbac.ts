import { forbidden, type GroupResource, type KubernetesObject } from '../../../api/meta/index.ts';
import { obj, sameValue, str } from '../../../api/validation/read.ts';
import type { EscalationGuard } from '../../authz/rbac/escalation.ts';
import type { PolicyRule, RoleRef } from '../../authz/rbac/types.ts';
import type { Draft, Strategy, WriteContext } from '../generic/strategy.ts';

const GROUP = 'rbac.authorization.k8s.io';
const FULL_AUTHORITY: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
];

/** The garbage collector takes owners and finalizers off without holding what the role grants. */
const changesOnlyReferences = (draft: Draft, old: KubernetesObject): boolean => {
  const beside = ({ metadata, ...rest }: KubernetesObject): unknown => {
    const {
      ownerReferences: _owners,
      finalizers: _finalizers,
      managedFields: _managed,
      resourceVersion: _version,
      ...meta
    } = metadata ?? {};
    return { ...rest, metadata: meta };
  };
  return sameValue(beside(draft), beside(old));
};

const refuse = (resource: string, draft: Draft, why: string | undefined): void => {
  const target: GroupResource = { group: GROUP, resource };
  if (why !== undefined) throw forbidden(target, draft.metadata?.name ?? '', why);
};

const guarded = (check: (draft: Draft, context: WriteContext) => Promise<void>): Strategy => ({
  allowCreateOnUpdate: true,
  checkCreate: check,
  async checkUpdate(draft, old, context) {
    if (!changesOnlyReferences(draft, old)) await check(draft, context);
  },
});

/** No one writes a role that grants more than they hold. */
export const roleStrategy = (resource: 'roles' | 'clusterroles', guard: EscalationGuard): Strategy =>
  guarded(async (draft, { user, namespace }) => {
    const name = draft.metadata?.name ?? '';
    const within = resource === 'roles' ? namespace : '';
    const rules = (draft['rules'] ?? []) as readonly PolicyRule[];
    refuse(
      resource,
      draft,
      await guard.checkRole({ user, resource, namespace: within, name, wanted: rules }),
    );
    // What an aggregation rule gathers is anybody's guess: it takes all rights to write one.
    if (draft['aggregationRule'] !== undefined)
      refuse(
        resource,
        draft,
        await guard.checkRole({ user, resource, namespace: within, name, wanted: FULL_AUTHORITY }),
      );
  });

/** No one binds a role that grants more than they hold, unless they may `bind` it. */
export const bindingStrategy = (
  resource: 'rolebindings' | 'clusterrolebindings',
  guard: EscalationGuard,
): Strategy =>
  guarded(async (draft, { user, namespace }) => {
    const reference = obj(draft, 'roleRef');
    const roleRef: RoleRef = {
      apiGroup: str(reference, 'apiGroup') || GROUP,
      kind: str(reference, 'kind'),
      name: str(reference, 'name'),
    };
    const within = resource === 'rolebindings' ? namespace : '';
    refuse(resource, draft, await guard.checkBinding({ user, namespace: within, roleRef }));
  });
