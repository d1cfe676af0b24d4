import { isNotFound, objectKey } from '../../api/meta/index.ts';
import { isPodTerminal, PERSISTENT_VOLUME_CLAIM, POD } from '../../client/index.ts';
import type { PersistentVolumeClaim, Pod, Stored } from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';
import { claimKeysOf, podUsesClaim } from './claims-of-pod.ts';

export const CLAIM_FINALIZER = 'kubernetes.io/pvc-protection';
const WORKERS = 30;

/** Keeps claims that pods use from going before the pods do. */
export const pvcProtectionController: ControllerDefinition<ControllerSettings> = {
  name: 'persistentvolumeclaim-protection-controller',
  aliases: ['pvc-protection'],
  serviceAccount: 'pvc-protection-controller',
  isOnByDefault: true,
  create(context) {
    const { client, informers } = context;
    const claims = informers.informer(PERSISTENT_VOLUME_CLAIM);
    const pods = informers.informer(POD, { indexers: { claim: claimKeysOf } });

    const isUsed = async (claim: Stored<PersistentVolumeClaim>): Promise<boolean> => {
      if (pods.store.byIndex('claim', objectKey(claim)).some((pod) => podUsesClaim(pod, claim))) return true;
      // The cache may be behind, and a volume that is deleted under a pod does not come back: ask the server.
      for await (const pod of client.resource(POD, claim.metadata.namespace).iterate())
        if (podUsesClaim(pod, claim)) return true;
      return false;
    };
    const write = async (claim: Stored<PersistentVolumeClaim>, finalizers: string[]): Promise<void> => {
      const resource = client.resource(PERSISTENT_VOLUME_CLAIM, claim.metadata.namespace);
      try {
        await resource.update({ ...claim, metadata: { ...claim.metadata, finalizers } });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    };

    const loop = workLoop(context, {
      name: 'pvcprotection',
      workers: WORKERS,
      async handle(key) {
        const claim = claims.store.get(key);
        if (!claim) return;
        const { finalizers = [], deletionTimestamp } = claim.metadata;
        const isHeld = finalizers.includes(CLAIM_FINALIZER);
        if (!deletionTimestamp && !isHeld) return write(claim, [...finalizers, CLAIM_FINALIZER]);
        if (deletionTimestamp && isHeld && !(await isUsed(claim)))
          await write(
            claim,
            finalizers.filter((name) => name !== CLAIM_FINALIZER),
          );
      },
    });
    const add = (key: string): void => loop.queue.add(key);
    claims.addHandler({
      added: (claim) => add(objectKey(claim)),
      updated: (_, claim) => add(objectKey(claim)),
    });
    /** Only pods that are gone, ended or not bound can free a claim. */
    const mayFree = (pod: Stored<Pod>): boolean => isPodTerminal(pod) || !pod.spec?.nodeName;
    pods.addHandler({
      added: (pod) => mayFree(pod) && claimKeysOf(pod).forEach(add),
      updated: (before, after) => {
        if (mayFree(after) || after.metadata.deletionTimestamp) claimKeysOf(after).forEach(add);
        if (before.metadata.uid !== after.metadata.uid) claimKeysOf(before).forEach(add);
      },
      deleted: (pod) => claimKeysOf(pod).forEach(add),
    });
    return loop;
  },
};
