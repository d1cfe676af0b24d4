import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { isAlreadyExists, isNotFound, StatusError } from '../../api/meta/status.ts';
import type { V1Pod } from '../../api/schema/index.ts';
import { POD, type Client, type Pod, type Stored } from '../../client/index.ts';
import { CONFIG_HASH, CONFIG_MIRROR } from './manifest.ts';

export const isMirror = (pod: V1Pod): boolean => pod.metadata?.annotations?.[CONFIG_MIRROR] !== undefined;

/** Whether the API shows exactly this static pod. */
export const isMirrorOf = (mirror: V1Pod, pod: V1Pod): boolean =>
  mirror.metadata?.annotations?.[CONFIG_MIRROR] === pod.metadata?.annotations?.[CONFIG_HASH];

/** The object that stands for a static pod in the API, owned by its node. */
export const mirrorOf = (pod: V1Pod, node: { readonly name: string; readonly uid: string }): V1Pod => {
  const { uid: _uid, ...metadata } = pod.metadata ?? {};
  const { status: _status, ...rest } = pod;
  return {
    ...rest,
    metadata: {
      ...metadata,
      annotations: {
        ...metadata.annotations,
        [CONFIG_MIRROR]: metadata.annotations?.[CONFIG_HASH] ?? '',
      },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: node.name, uid: node.uid, controller: true }],
    },
  };
};

export interface MirrorOptions {
  readonly client: Client;
  readonly log: Log;
  readonly nodeName: string;
  /** Undefined until the node is registered: a mirror needs its owner. */
  nodeUid(): string | undefined;
}

/**
 * `shown` when the API has the mirror, with the object where it was read here; `waiting` for the API or the node's
 * registration; `refused` by the API, to be tried again later each time.
 */
export type MirrorOutcome =
  { readonly outcome: 'shown'; readonly mirror?: Stored<Pod> } | { readonly outcome: 'waiting' | 'refused' };

/** Makes the API show a static pod. */
export const reconcileMirror = async (
  options: MirrorOptions,
  pod: V1Pod,
  mirror: Stored<Pod> | undefined,
): Promise<MirrorOutcome> => {
  const uid = options.nodeUid();
  if (uid === undefined) return { outcome: 'waiting' };
  if (mirror && shows(mirror, pod)) return { outcome: 'shown' };
  const pods = options.client.resource(POD, pod.metadata?.namespace);
  const create = () => pods.create(mirrorOf(pod, { name: options.nodeName, uid }));
  try {
    if (mirror) await removeMirror(options.client, mirror);
    return {
      outcome: 'shown',
      mirror: await create().catch((error: unknown) => takeOver(error, options, pod, create)),
    };
  } catch (error) {
    options.log.write('warn', 'failed creating a mirror pod', {
      pod: pod.metadata?.name,
      error: messageOf(error),
    });
    return { outcome: error instanceof StatusError ? 'refused' : 'waiting' };
  }
};

const shows = (mirror: Stored<Pod>, pod: V1Pod): boolean =>
  mirror.metadata.deletionTimestamp === undefined && isMirrorOf(mirror, pod);

/**
 * The name is taken by a pod that the watch has not shown, as after a restore, when the API went back in time: the
 * mirror itself, which is kept, or one that is stale, which is deleted by its uid to make room.
 */
const takeOver = async (
  error: unknown,
  { client }: MirrorOptions,
  pod: V1Pod,
  create: () => Promise<Stored<Pod>>,
): Promise<Stored<Pod>> => {
  if (!isAlreadyExists(error)) throw error;
  const found = await client.resource(POD, pod.metadata?.namespace).get(pod.metadata?.name ?? '');
  if (shows(found, pod)) return found;
  await removeMirror(client, found);
  return create();
};

export const removeMirror = async (client: Client, mirror: Stored<Pod>): Promise<void> => {
  const { name, namespace, uid } = mirror.metadata;
  try {
    await client.resource(POD, namespace).delete(name, { gracePeriodSeconds: 0, preconditions: { uid } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
};
