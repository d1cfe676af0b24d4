import type { KubernetesObject, OwnerReference } from '../api/meta/index.ts';
import type { V1Pod } from '../api/schema/index.ts';
import {
  say,
  type GraphEdge,
  type GraphNode,
  type GraphReason,
  type GraphRelation,
} from '../contract/index.ts';
import { GRAPH_KINDS, isGraphKind, type GraphKind } from './kinds.ts';

/** A request of a service account that the server denied, as the audit log has it. */
export interface Denial {
  readonly account: { readonly namespace: string; readonly name: string };
  readonly verb: string;
  readonly group: string;
  /** With its subresource: `pods/log`. */
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
  readonly count: number;
}

export interface GraphInput {
  readonly objects: ReadonlyMap<GraphKind, readonly KubernetesObject[]>;
  /** Kinds that could not be read: their objects are never called missing. */
  readonly unread: ReadonlySet<GraphKind>;
  /** Pods of all namespaces, for the free capacity of nodes; undefined: not known. */
  readonly placedPods: readonly V1Pod[] | undefined;
  readonly denials: readonly Denial[];
}

export const idOf = (kind: string, namespace: string, name: string): string => `${kind}/${namespace}/${name}`;

export const metaOf = (object: KubernetesObject): { readonly namespace: string; readonly name: string } => ({
  namespace: object.metadata?.namespace ?? '',
  name: object.metadata?.name ?? '',
});

/** A reason with its fix. A command is a line that a person can run as it is. */
export const reasonOf = (
  severity: GraphReason['severity'],
  what: GraphReason['what'],
  fix: GraphReason['fix'],
  command: string | null = null,
): GraphReason => ({ severity, what, fix, command });

/** Nodes and edges as they are found; each object once, each relation once. */
export class GraphBuilder {
  readonly nodes = new Map<string, GraphNode>();
  readonly edges = new Map<string, GraphEdge>();
  readonly input: GraphInput;
  readonly #byName = new Map<string, KubernetesObject>();

  constructor(input: GraphInput) {
    this.input = input;
    for (const [kind, objects] of input.objects)
      for (const object of objects) {
        const { namespace, name } = metaOf(object);
        this.#byName.set(idOf(kind, namespace, name), object);
        this.#add(kind, GRAPH_KINDS[kind].group, namespace, name, 'ok');
      }
  }

  all<T extends KubernetesObject>(kind: GraphKind): readonly T[] {
    return (this.input.objects.get(kind) ?? []) as readonly T[];
  }

  get<T extends KubernetesObject>(kind: GraphKind, namespace: string, name: string): T | undefined {
    return this.#byName.get(idOf(kind, namespace, name)) as T | undefined;
  }

  /** Whether it is certain that there is no such object. */
  isAbsent(kind: GraphKind, namespace: string, name: string): boolean {
    return !this.input.unread.has(kind) && !this.#byName.has(idOf(kind, namespace, name));
  }

  figures(id: string, figures: string): void {
    const node = this.nodes.get(id);
    if (node) node.figures = figures;
  }

  explain(id: string, reason: GraphReason): void {
    const node = this.nodes.get(id);
    if (!node) return;
    node.reasons.push(reason);
    if (node.state !== 'missing')
      node.state = reason.severity === 'error' || node.state === 'broken' ? 'broken' : 'waiting';
  }

  /** The state without a reason of its own: `2/3` explains itself. */
  waits(id: string): void {
    const node = this.nodes.get(id);
    if (node?.state === 'ok') node.state = 'waiting';
  }

  edge(from: string, to: string, relation: GraphRelation, reasons: readonly GraphReason[] = []): void {
    const key = `${from}\n${to}\n${relation}`;
    const known = this.edges.get(key);
    if (known) known.reasons.push(...reasons);
    else this.edges.set(key, { from, to, relation, reasons: [...reasons] });
  }

  /** An object that is referred to and does not exist, or one of a kind that is not read. */
  standIn(kind: string, group: string, namespace: string, name: string, state: GraphNode['state']): string {
    return this.#add(kind, group, namespace, name, state);
  }

  /** Refers to an object by name: with the reason where it does not exist. Answers the object. */
  refer<T extends KubernetesObject>(
    from: string,
    to: { readonly kind: GraphKind; readonly namespace: string; readonly name: string },
    relation: GraphRelation,
    { isOptional = false, command = null }: { isOptional?: boolean; command?: string | null } = {},
  ): T | undefined {
    const { kind, name } = to;
    const namespace = GRAPH_KINDS[kind].namespaced ? to.namespace : '';
    const found = this.get<T>(kind, namespace, name);
    if (!found && isOptional) return undefined;
    const isAbsent = this.isAbsent(kind, namespace, name);
    const id = this.#add(kind, GRAPH_KINDS[kind].group, namespace, name, isAbsent ? 'missing' : 'ok');
    this.edge(
      from,
      id,
      relation,
      isAbsent
        ? [
            reasonOf(
              'error',
              say('graph.notFound', { kind, name }),
              say('graph.fix.notFound', { kind, name }),
              command,
            ),
          ]
        : [],
    );
    return found;
  }

  #add(kind: string, group: string, namespace: string, name: string, state: GraphNode['state']): string {
    const id = idOf(kind, namespace, name);
    if (!this.nodes.has(id))
      this.nodes.set(id, { id, group, kind, namespace, name, state, figures: '', reasons: [], members: [] });
    return id;
  }

  /** The controller at the top of an object's owners: what a person would name. */
  rootOf(object: KubernetesObject, kind: string): string {
    const namespace = metaOf(object).namespace;
    let current: KubernetesObject | undefined = object;
    let id = idOf(kind, namespace, metaOf(object).name);
    // Owners cannot form a circle that a server would keep, but an input may.
    for (let depth = 0; current && depth < 8; depth += 1) {
      const owner: OwnerReference | undefined = current.metadata?.ownerReferences?.find(
        ({ controller }) => controller,
      );
      if (!owner) return id;
      if (!isGraphKind(owner.kind) || !this.nodes.has(idOf(owner.kind, namespace, owner.name))) return id;
      id = idOf(owner.kind, namespace, owner.name);
      current = this.get(owner.kind, namespace, owner.name);
    }
    return id;
  }
}
