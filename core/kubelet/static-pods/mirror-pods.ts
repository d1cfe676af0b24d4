import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { isAlreadyExists, isNotFound } from '../../api/meta/status.ts';
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

/** Makes the API show a static pod. True when nothing is left to do; false to try again later. */
export const reconcileMirror = async (
  options: MirrorOptions,
  pod: V1Pod,
  mirror: Stored<Pod> | undefined,
): Promise<boolean> => {
  const uid = options.nodeUid();
  if (uid === undefined) return false;
  if (mirror && mirror.metadata.deletionTimestamp === undefined && isMirrorOf(mirror, pod)) return true;
  const pods = options.client.resource(POD, pod.metadata?.namespace);
  try {
    if (mirror) await removeMirror(options.client, mirror);
    await pods.create(mirrorOf(pod, { name: options.nodeName, uid }));
    return true;
  } catch (error) {
    const level = isAlreadyExists(error) ? 'debug' : 'warn';
    options.log.write(level, 'failed creating a mirror pod', {
      pod: pod.metadata?.name,
      error: messageOf(error),
    });
    return false;
  }
};

export const removeMirror = async (client: Client, mirror: Stored<Pod>): Promise<void> => {
  const { name, namespace, uid } = mirror.metadata;
  try {
    await client.resource(POD, namespace).delete(name, { gracePeriodSeconds: 0, preconditions: { uid } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
};
