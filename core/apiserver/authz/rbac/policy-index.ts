import { notFound } from '../../../api/meta/index.ts';
import { goQuote } from '../../../api/field/go-text.ts';
import { serviceAccountUsername, type UserInfo } from '../../server/user.ts';
import {
  RBAC_GROUP,
  type Binding,
  type ClusterRole,
  type PolicyRule,
  type RbacKind,
  type Role,
  type Subject,
} from './types.ts';

/** A rule that applies to somebody, and the binding that makes it apply. */
export type RuleVisitor = (rule: PolicyRule, describeSource: () => string) => 'continue' | 'stop';

const ROLE_KINDS: Readonly<Record<string, string>> = { Role: 'roles', ClusterRole: 'clusterroles' };

/** The key under which a subject is found by a caller's name or group; undefined for subjects that match no one. */
const subjectKey = (subject: Subject, bindingNamespace: string): string | undefined => {
  switch (subject.kind) {
    case 'User':
      return `u:${subject.name}`;
    case 'Group':
      return `g:${subject.name}`;
    case 'ServiceAccount': {
      const namespace = subject.namespace || bindingNamespace;
      return namespace === '' ? undefined : `u:${serviceAccountUsername(namespace, subject.name)}`;
    }
    default:
      return undefined;
  }
};

const keysOf = (user: UserInfo): string[] => [`u:${user.name}`, ...user.groups.map((group) => `g:${group}`)];

const describeSubject = (subject: Subject, bindingNamespace: string): string =>
  subject.kind === 'ServiceAccount'
    ? `${subject.kind} ${goQuote(`${subject.name}/${subject.namespace || bindingNamespace}`)}`
    : `${subject.kind} ${goQuote(subject.name)}`;

interface BindingSet {
  readonly bindings: Map<string, Binding>;
  /** Names of bindings by subject, so that a request looks at its own bindings only. */
  readonly bySubject: Map<string, Set<string>>;
}

const emptySet = (): BindingSet => ({ bindings: new Map(), bySubject: new Map() });

/** Roles and bindings as the source last told them, indexed by who they are for. */
export class PolicyIndex {
  readonly #clusterRoles = new Map<string, ClusterRole>();
  readonly #roles = new Map<string, Role>();
  readonly #clusterBindings = emptySet();
  readonly #namespaceBindings = new Map<string, BindingSet>();

  upsertClusterRole(role: ClusterRole): void {
    this.#clusterRoles.set(role.metadata.name ?? '', role);
  }

  upsertRole(role: Role): void {
    this.#roles.set(`${role.metadata.namespace ?? ''}/${role.metadata.name ?? ''}`, role);
  }

  upsertClusterRoleBinding(binding: Binding): void {
    this.#put(this.#clusterBindings, binding, '');
  }

  upsertRoleBinding(binding: Binding): void {
    const namespace = binding.metadata.namespace ?? '';
    let set = this.#namespaceBindings.get(namespace);
    if (!set) this.#namespaceBindings.set(namespace, (set = emptySet()));
    this.#put(set, binding, namespace);
  }

  delete(
    kind: RbacKind,
    { namespace = '', name }: { readonly namespace?: string; readonly name: string },
  ): void {
    switch (kind) {
      case 'ClusterRole':
        this.#clusterRoles.delete(name);
        return;
      case 'Role':
        this.#roles.delete(`${namespace}/${name}`);
        return;
      case 'ClusterRoleBinding':
        this.#remove(this.#clusterBindings, name, '');
        return;
      case 'RoleBinding': {
        const set = this.#namespaceBindings.get(namespace);
        if (!set) return;
        this.#remove(set, name, namespace);
        if (set.bindings.size === 0) this.#namespaceBindings.delete(namespace);
      }
    }
  }

  clusterRoles(): Iterable<ClusterRole> {
    return this.#clusterRoles.values();
  }

  /** The rules behind a reference. Throws NotFound where the role is missing. */
  rulesOf(
    roleRef: { readonly kind: string; readonly name: string },
    namespace: string,
  ): readonly PolicyRule[] {
    const role =
      roleRef.kind === 'ClusterRole'
        ? this.#clusterRoles.get(roleRef.name)
        : this.#roles.get(`${namespace}/${roleRef.name}`);
    const resource = ROLE_KINDS[roleRef.kind];
    if (resource === undefined)
      throw new TypeError(`unsupported role reference kind: ${goQuote(roleRef.kind)}`);
    // Upstream's listers name the resource with its group: `clusterrole.rbac.authorization.k8s.io "x" not found`.
    if (!role) throw notFound({ group: RBAC_GROUP, resource: resource.slice(0, -1) }, roleRef.name);
    return role.rules ?? [];
  }

  /** Visits the rules that apply to a user in a namespace, cluster-wide ones first. Returns the failures met. */
  visit(user: UserInfo, namespace: string, visitor: RuleVisitor): string[] {
    const failures: string[] = [];
    const keys = keysOf(user);
    if (this.#visitSet(this.#clusterBindings, keys, '', visitor, failures) === 'stop') return failures;
    const set = namespace === '' ? undefined : this.#namespaceBindings.get(namespace);
    if (set) this.#visitSet(set, keys, namespace, visitor, failures);
    return failures;
  }

  #visitSet(
    set: BindingSet,
    keys: readonly string[],
    namespace: string,
    visitor: RuleVisitor,
    failures: string[],
  ): 'continue' | 'stop' {
    const seen = new Set<string>();
    for (const key of keys)
      for (const name of set.bySubject.get(key) ?? []) {
        if (seen.has(name)) continue;
        seen.add(name);
        const binding = set.bindings.get(name)!;
        let rules: readonly PolicyRule[];
        try {
          rules = this.rulesOf(binding.roleRef, namespace);
        } catch (error) {
          failures.push((error as Error).message);
          continue;
        }
        const describe = (): string => describeBinding(binding, namespace, keys);
        for (const rule of rules) if (visitor(rule, describe) === 'stop') return 'stop';
      }
    return 'continue';
  }

  #put(set: BindingSet, binding: Binding, namespace: string): void {
    const name = binding.metadata.name ?? '';
    this.#remove(set, name, namespace);
    set.bindings.set(name, binding);
    for (const subject of binding.subjects ?? []) {
      const key = subjectKey(subject, namespace);
      if (key === undefined) continue;
      const names = set.bySubject.get(key);
      if (names) names.add(name);
      else set.bySubject.set(key, new Set([name]));
    }
  }

  #remove(set: BindingSet, name: string, namespace: string): void {
    const binding = set.bindings.get(name);
    if (!binding) return;
    set.bindings.delete(name);
    for (const subject of binding.subjects ?? []) {
      const key = subjectKey(subject, namespace);
      if (key === undefined) continue;
      const names = set.bySubject.get(key);
      names?.delete(name);
      if (names?.size === 0) set.bySubject.delete(key);
    }
  }
}

const describeBinding = (binding: Binding, namespace: string, keys: readonly string[]): string => {
  const { roleRef, metadata, subjects } = binding;
  const subject = (subjects ?? []).find((one) => {
    const key = subjectKey(one, namespace);
    return key !== undefined && keys.includes(key);
  })!;
  const name = metadata.name ?? '';
  const [kind, shown] =
    namespace === '' ? ['ClusterRoleBinding', name] : ['RoleBinding', `${name}/${namespace}`];
  return `${kind} ${goQuote(shown)} of ${roleRef.kind} ${goQuote(roleRef.name)} to ${describeSubject(subject, namespace)}`;
};
