import { apiVersionOf, controllerOf, parseApiVersion, type OwnerReference } from '../../api/meta/index.ts';
import { scaledValue } from '../../api/quantity/index.ts';
import {
  DEPLOYMENT,
  REPLICA_SET,
  REPLICATION_CONTROLLER,
  RestMapper,
  STATEFUL_SET,
} from '../../client/index.ts';
import type { Client, InformerFactory, Kind, Pod, PodDisruptionBudget, Stored } from '../../client/index.ts';
import type { Clock } from '../../base/clock.ts';

interface Scale {
  readonly uid: string;
  readonly replicas: number;
}

type Scaled = { spec?: { replicas?: number } };

/** How many pods the controllers of some pods want in all: what a share of pods is a share of. */
export class ExpectedScale {
  readonly #client: Client;
  readonly #mapper: RestMapper;
  readonly #find: (kind: Kind<never>, namespace: string, name: string) => Stored | undefined;

  constructor(client: Client, informers: InformerFactory, clock: Clock) {
    this.#client = client;
    this.#mapper = new RestMapper(client, clock);
    const stores = new Map(
      [DEPLOYMENT, REPLICA_SET, STATEFUL_SET, REPLICATION_CONTROLLER].map((kind) => [
        kind as Kind,
        informers.informer(kind as Kind).store,
      ]),
    );
    this.#find = (kind, namespace, name) => stores.get(kind as Kind)?.find(namespace, name);
  }

  /** The sum over all controllers, and the pods that have none. Rejects for a pod whose controller is not found. */
  async of(
    pods: readonly Stored<Pod>[],
  ): Promise<{ readonly expected: number; readonly unmanaged: string[] }> {
    const scales = new Map<string, number>();
    const unmanaged: string[] = [];
    for (const pod of pods) {
      const controller = controllerOf(pod);
      if (!controller) {
        unmanaged.push(pod.metadata.name);
        continue;
      }
      if (scales.has(controller.uid)) continue;
      const scale = await this.#scaleOf(controller, pod.metadata.namespace ?? '');
      if (!scale) throw new Error(`found no controllers for pod "${pod.metadata.name}"`);
      scales.set(controller.uid, 0);
      scales.set(scale.uid, scale.replicas);
    }
    return { expected: [...scales.values()].reduce((sum, one) => sum + one, 0), unmanaged };
  }

  async #scaleOf(reference: OwnerReference, namespace: string): Promise<Scale | undefined> {
    const found = this.#cached(reference, namespace);
    if (found) return found;
    const gv = parseApiVersion(reference.apiVersion) ?? { group: '', version: '' };
    const kind = await this.#mapper.ofKind({ ...gv, kind: reference.kind });
    if (!kind?.subresources.includes('scale')) return undefined;
    const scale = await this.#client.resource(kind, namespace).getScale(reference.name);
    return scale.metadata.uid === reference.uid
      ? { uid: reference.uid, replicas: scale.spec?.replicas ?? 0 }
      : undefined;
  }

  #cached(reference: OwnerReference, namespace: string): Scale | undefined {
    for (const kind of [REPLICA_SET, STATEFUL_SET, REPLICATION_CONTROLLER] as readonly Kind[]) {
      const gv = parseApiVersion(reference.apiVersion);
      if (reference.kind !== kind.kind || gv?.group !== kind.group) continue;
      const owner = this.#find(kind as Kind<never>, namespace, reference.name);
      if (owner?.metadata.uid !== reference.uid) continue;
      return this.#deploymentOf(owner, namespace) ?? scaleFrom(owner);
    }
    return undefined;
  }

  /** A replica set of a deployment is one of several: the deployment says how many pods there are in all. */
  #deploymentOf(replicaSet: Stored, namespace: string): Scale | undefined {
    const above = controllerOf(replicaSet);
    if (above?.kind !== DEPLOYMENT.kind || above.apiVersion !== apiVersionOf(DEPLOYMENT)) return undefined;
    const deployment = this.#find(DEPLOYMENT as Kind<never>, namespace, above.name);
    return deployment?.metadata.uid === above.uid ? scaleFrom(deployment) : undefined;
  }
}

const scaleFrom = (owner: Stored): Scale => ({
  uid: owner.metadata.uid,
  replicas: (owner as Stored & Scaled).spec?.replicas ?? 1,
});

/** Whether the wish of a budget is a share, or a number of pods that may be missing: then controllers are asked. */
export const needsScale = ({ spec }: PodDisruptionBudget): boolean =>
  spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === 'string';

/** How many pods must stay healthy. */
export const desiredHealthy = ({ spec }: PodDisruptionBudget, expected: number): number => {
  if (spec?.maxUnavailable !== undefined)
    return Math.max(0, expected - scaledValue(spec.maxUnavailable, { total: expected, roundUp: true }));
  if (spec?.minAvailable !== undefined)
    return scaledValue(spec.minAvailable, { total: expected, roundUp: true });
  return 0;
};
