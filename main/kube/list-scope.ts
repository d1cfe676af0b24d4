import type { Clock } from '../../core/base/clock.ts';
import type { Client, DiscoveredResource } from '../../core/client/index.ts';

/** Answers are asked for again after this: a binding may have been added or removed. */
const ANSWER_FRESH_MS = 60_000;
const ANSWERS_MAX = 256;

interface ResourceRef {
  readonly group: string;
  readonly plural: string;
}

export interface ListScopeOptions {
  readonly client: Pick<Client, 'json'>;
  readonly clock: Clock;
  /** The namespace of the kubeconfig's context. */
  readonly namespace: string;
  readonly resources: () => Promise<readonly DiscoveredResource[]>;
}

/**
 * Where the user may list a resource: everywhere (null), or only in the namespace of their context. The server is asked
 * with SelfSubjectAccessReviews. Where neither is allowed, or the server does not answer reviews, the list itself is
 * sent and the server's own refusal is shown.
 */
export class ListScopes {
  readonly #options: ListScopeOptions;
  readonly #answers = new Map<string, { readonly atMs: number; readonly scope: Promise<string | null> }>();

  constructor(options: ListScopeOptions) {
    this.#options = options;
  }

  of(resource: ResourceRef): Promise<string | null> {
    const key = `${resource.group}/${resource.plural}`;
    const nowMs = this.#options.clock.monotonicMs();
    const known = this.#answers.get(key);
    if (known && nowMs - known.atMs < ANSWER_FRESH_MS) return known.scope;
    const scope = this.#ask(resource).catch(() => {
      this.#answers.delete(key);
      return null;
    });
    this.#answers.delete(key);
    this.#answers.set(key, { atMs: nowMs, scope });
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= ANSWERS_MAX) break;
      this.#answers.delete(oldest);
    }
    return scope;
  }

  async #ask(resource: ResourceRef): Promise<string | null> {
    const { namespace, resources } = this.#options;
    const found = (await resources()).find(
      ({ group, plural }) => group === resource.group && plural === resource.plural,
    );
    if (!found?.namespaced || namespace === '') return null;
    if (await this.#mayList(resource, '')) return null;
    return (await this.#mayList(resource, namespace)) ? namespace : null;
  }

  async #mayList({ group, plural }: ResourceRef, namespace: string): Promise<boolean> {
    const review = await this.#options.client.json<{ status?: { allowed?: unknown } }>({
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes: { verb: 'list', group, resource: plural, namespace } },
      },
    });
    return review.status?.allowed === true;
  }
}
