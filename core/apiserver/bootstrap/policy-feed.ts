import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import {
  groupResourceText,
  objectKey,
  type GroupResource,
  type KubernetesObject,
} from '../../api/meta/index.ts';
import { EVERY_FIELD, EVERYTHING } from '../../api/selector/index.ts';
import {
  podForGraph,
  volumeForGraph,
  type Binding,
  type ClusterRole,
  type NodeGraph,
  type PolicyIndex,
  type RbacKind,
} from '../authz/index.ts';
import type { OwnedKind } from '../authz/node/node-graph.ts';
import { RBAC_GROUP } from '../authz/rbac/types.ts';
import type { RestRegistry, RestStorage } from '../registry/rest-storage.ts';
import { wait } from './ensure.ts';
import { APISERVER_USER } from './object-writer.ts';

const BATCH_ITEMS_MAX = 500;
const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 2_000;

/** One resource and the index that follows it. */
interface Sink {
  readonly resource: GroupResource;
  upsert(object: KubernetesObject): void;
  remove(object: KubernetesObject): void;
}

const nameOf = ({ metadata }: KubernetesObject): { readonly namespace: string; readonly name: string } => ({
  namespace: metadata?.namespace ?? '',
  name: metadata?.name ?? '',
});

const policySinks = (policy: PolicyIndex): Sink[] => {
  const sink = (kind: RbacKind, resource: string, upsert: (object: KubernetesObject) => void): Sink => ({
    resource: { group: RBAC_GROUP, resource },
    upsert,
    remove: (object) => policy.delete(kind, nameOf(object)),
  });
  return [
    sink('ClusterRole', 'clusterroles', (one) => policy.upsertClusterRole(one as unknown as ClusterRole)),
    sink('Role', 'roles', (one) => policy.upsertRole(one as unknown as ClusterRole)),
    sink('ClusterRoleBinding', 'clusterrolebindings', (one) =>
      policy.upsertClusterRoleBinding(one as unknown as Binding),
    ),
    sink('RoleBinding', 'rolebindings', (one) => policy.upsertRoleBinding(one as unknown as Binding)),
  ];
};

const graphSinks = (graph: NodeGraph): Sink[] => {
  const owned = (kind: OwnedKind, group: string, resource: string): Sink => ({
    resource: { group, resource },
    upsert(object) {
      const { nodeName = '' } = (object['spec'] ?? {}) as { readonly nodeName?: string };
      graph.setOwner(kind, nameOf(object), nodeName);
    },
    remove: (object) => graph.setOwner(kind, nameOf(object), ''),
  });
  return [
    {
      resource: { group: '', resource: 'pods' },
      upsert: (object) => graph.upsertPod(podForGraph(object)),
      remove: (object) => graph.deletePod(nameOf(object)),
    },
    {
      resource: { group: '', resource: 'persistentvolumes' },
      upsert: (object) => graph.upsertVolume(volumeForGraph(object)),
      remove: (object) => graph.deleteVolume(nameOf(object).name),
    },
    owned('volumeattachment', 'storage.k8s.io', 'volumeattachments'),
    owned('resourceslice', 'resource.k8s.io', 'resourceslices'),
    owned('podcertificaterequest', 'certificates.k8s.io', 'podcertificaterequests'),
  ];
};

export interface PolicyFeedOptions {
  readonly registry: RestRegistry;
  readonly policy: PolicyIndex;
  readonly graph: NodeGraph;
  readonly clock: Clock;
  readonly log: Log;
}

export interface PolicyFeed extends Disposable {
  /** Resolves when the roles and bindings that were there at the start are known. */
  readonly policyReady: Promise<void>;
  /** Resolves when everything is. */
  readonly ready: Promise<void>;
}

/** Follows one resource for as long as the server runs; calls `onFilled` when its first state is complete. */
const follow = async (
  watch: NonNullable<RestStorage['watch']>,
  sink: Sink,
  { clock, log }: PolicyFeedOptions,
  signal: AbortSignal,
  onFilled: () => void,
): Promise<void> => {
  const known = new Map<string, KubernetesObject>();
  const scope = { user: APISERVER_USER, namespace: '', signal, warn: () => undefined };
  let retryMs = RETRY_MS_MIN;
  while (!signal.aborted) {
    try {
      const watcher = await watch(scope, {
        labelSelector: EVERYTHING,
        fieldSelector: EVERY_FIELD,
        start: 'state',
        stateBookmark: true,
        bookmarks: false,
      });
      const end = (): void => watcher.dispose();
      signal.addEventListener('abort', end, { once: true });
      // What was deleted while nobody watched is what the new state does not have.
      const gone = new Map(known);
      for await (const items of watcher.batches(BATCH_ITEMS_MAX))
        for (const item of items) {
          if (item.type === 'BOOKMARK') {
            if (!item.initialEventsEnd) continue;
            for (const [key, object] of gone) {
              known.delete(key);
              sink.remove(object);
            }
            gone.clear();
            retryMs = RETRY_MS_MIN;
            onFilled();
            continue;
          }
          const { object } = item.current;
          const key = objectKey(object);
          gone.delete(key);
          if (item.type === 'DELETED') {
            known.delete(key);
            sink.remove(object);
          } else {
            known.set(key, object);
            sink.upsert(object);
          }
        }
      signal.removeEventListener('abort', end);
    } catch (error) {
      log.write('warn', 'an authorizer could not follow its objects', {
        resource: groupResourceText(sink.resource),
        error: messageOf(error),
      });
    }
    await wait(clock, retryMs, signal);
    retryMs = Math.min(RETRY_MS_MAX, retryMs * 2);
  }
};

/** Feeds the authorizers from the watch caches. What this server does not serve is left out. */
export const startPolicyFeed = (options: PolicyFeedOptions): PolicyFeed => {
  const stop = new AbortController();
  const start = (sink: Sink): Promise<void> => {
    const storage = options.registry.storageOf(sink.resource.group, sink.resource.resource, '');
    const watch = storage?.watch?.bind(storage);
    if (watch === undefined) return Promise.resolve();
    return new Promise((resolve) => void follow(watch, sink, options, stop.signal, resolve));
  };
  const policy = policySinks(options.policy).map(start);
  const graph = graphSinks(options.graph).map(start);
  return {
    policyReady: Promise.all(policy).then(() => undefined),
    ready: Promise.all([...policy, ...graph]).then(() => undefined),
    dispose: () => stop.abort(),
  };
};
