import type { Labels } from '../../api/selector/index.ts';
import type { AffinityTerms, TermSubject } from '../model/affinity-term.ts';
import type { PodInfo } from '../model/pod-info.ts';

/**
 * All pods that look alike to selectors: same namespace, labels and affinity. A selector is asked once for a
 * shape, not once for a pod, and counts per node are at hand: spreading a thousand replicas costs as much
 * as spreading one.
 */
export interface PodShape extends TermSubject {
  readonly namespace: string;
  readonly labels: Labels | undefined;
  readonly terminating: boolean;
  readonly affinity: AffinityTerms;
  /** How many of these pods each node slot holds. Never holds a zero. */
  readonly countOf: Map<number, number>;
}

const NONE: ReadonlySet<PodShape> = new Set();

const hasTerms = ({ required, requiredAnti, preferred, preferredAnti }: AffinityTerms): boolean =>
  required.length + requiredAnti.length + preferred.length + preferredAnti.length > 0;

export class PodShapes {
  readonly #byText = new Map<string, PodShape>();
  readonly #byNamespace = new Map<string, Set<PodShape>>();
  readonly #withAffinity = new Set<PodShape>();
  readonly #withRequiredAntiAffinity = new Set<PodShape>();

  all(): Iterable<PodShape> {
    return this.#byText.values();
  }

  inNamespace(namespace: string): ReadonlySet<PodShape> {
    return this.#byNamespace.get(namespace) ?? NONE;
  }

  get withAffinity(): ReadonlySet<PodShape> {
    return this.#withAffinity;
  }

  get withRequiredAntiAffinity(): ReadonlySet<PodShape> {
    return this.#withRequiredAntiAffinity;
  }

  add(info: PodInfo, slot: number): void {
    let shape = this.#byText.get(info.shape);
    if (!shape) {
      const { namespace, labels, terminating, affinity } = info;
      shape = { namespace, labels, terminating, affinity, countOf: new Map() };
      this.#byText.set(info.shape, shape);
      let siblings = this.#byNamespace.get(namespace);
      if (!siblings) this.#byNamespace.set(namespace, (siblings = new Set()));
      siblings.add(shape);
      if (hasTerms(affinity)) this.#withAffinity.add(shape);
      if (affinity.requiredAnti.length > 0) this.#withRequiredAntiAffinity.add(shape);
    }
    shape.countOf.set(slot, (shape.countOf.get(slot) ?? 0) + 1);
  }

  remove(info: PodInfo, slot: number): void {
    const shape = this.#byText.get(info.shape);
    const count = shape?.countOf.get(slot);
    if (!shape || count === undefined) return;
    if (count > 1) {
      shape.countOf.set(slot, count - 1);
      return;
    }
    shape.countOf.delete(slot);
    if (shape.countOf.size > 0) return;
    this.#byText.delete(info.shape);
    this.#withAffinity.delete(shape);
    this.#withRequiredAntiAffinity.delete(shape);
    const siblings = this.#byNamespace.get(shape.namespace);
    siblings?.delete(shape);
    if (siblings?.size === 0) this.#byNamespace.delete(shape.namespace);
  }
}
