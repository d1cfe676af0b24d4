import { NODE, POD, STORAGE_CLASS, PERSISTENT_VOLUME } from '../../client/index.ts';
import type { Informer, Node, Pod, PersistentVolume, StorageClass, Stored } from '../../client/index.ts';
import type { ControllerContext } from '../runtime/controller.ts';
import { claimKeysOf } from '../pvc-protection/claims-of-pod.ts';
import { findVolume, mismatch } from './find-volume.ts';
import { provision } from './provision.ts';
import {
  BIND_COMPLETED,
  classOf,
  defaultClass,
  hasAnnotation,
  isVolumeFor,
  leavesClassOpen,
  SELECTED_NODE,
  type Claim,
} from './volume-facts.ts';
import type { VolumeWrites } from './volume-writes.ts';

export interface ClaimSources {
  readonly volumes: Informer<PersistentVolume>;
  readonly classes: Informer<StorageClass>;
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
}

export const claimSources = ({ informers }: ControllerContext): ClaimSources => ({
  volumes: informers.informer(PERSISTENT_VOLUME),
  classes: informers.informer(STORAGE_CLASS),
  nodes: informers.informer(NODE),
  pods: informers.informer(POD, { indexers: { claim: claimKeysOf } }),
});

/** Brings one claim on: to a volume that is there, to one that is made for it, or to the knowledge that it is lost. */
export const createClaimSync = (
  context: ControllerContext,
  writes: VolumeWrites,
  { volumes, classes, nodes, pods }: ClaimSources,
): ((claim: Claim) => Promise<void>) => {
  const { events } = context;

  const lost = async (claim: Claim, reason: string, message: string): Promise<void> => {
    if (claim.status?.phase !== 'Lost') events.event(claim, 'Warning', reason, message);
    await writes.claimStatus(claim, 'Lost');
  };

  const syncBound = async (claim: Claim): Promise<void> => {
    const name = claim.spec?.volumeName ?? '';
    if (name === '')
      return lost(
        claim,
        'ClaimLost',
        'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!',
      );
    const volume = volumes.store.get(name);
    if (!volume)
      return lost(
        claim,
        'ClaimLost',
        'Bound claim has lost its PersistentVolume. Data on the volume is lost!',
      );
    const { claimRef } = volume.spec ?? {};
    if (!claimRef || isVolumeFor(volume, claim)) return writes.bind(volume, claim);
    return lost(
      claim,
      'ClaimMisbound',
      'Two claims are bound to the same volume, this one is bound incorrectly',
    );
  };

  /** The claim asks for one volume by name. */
  const syncNamed = async (claim: Claim, name: string): Promise<void> => {
    const volume = volumes.store.get(name);
    if (volume && volume.spec?.claimRef && !isVolumeFor(volume, claim))
      events.event(claim, 'Warning', 'FailedBinding', `volume "${name}" already bound to a different claim.`);
    const isFree = volume && (!volume.spec?.claimRef || isVolumeFor(volume, claim));
    if (!isFree) return void (await writes.claimStatus(claim, 'Pending'));
    const problem = mismatch(volume, claim);
    if (problem === undefined || volume.spec?.claimRef?.uid === claim.metadata.uid)
      return writes.bind(volume, claim);
    events.event(claim, 'Warning', 'VolumeMismatch', `Cannot bind to requested volume "${name}": ${problem}`);
    await writes.claimStatus(claim, 'Pending');
  };

  const tellDelayed = (claim: Claim): void => {
    const key = `${claim.metadata.namespace ?? ''}/${claim.metadata.name}`;
    const waiting = pods.store.byIndex('claim', key).find(({ spec }) => !spec?.nodeName);
    if (waiting)
      events.event(
        claim,
        'Normal',
        'WaitForPodScheduled',
        `waiting for pod ${waiting.metadata.name} to be scheduled`,
      );
    else
      events.event(
        claim,
        'Normal',
        'WaitForFirstConsumer',
        'waiting for first consumer to be created before binding',
      );
  };

  const withDefaultClass = async (claim: Claim): Promise<Claim> => {
    const found = leavesClassOpen(claim) ? defaultClass(classes.store.list()) : undefined;
    if (!found) return claim;
    return writes.updateClaim(claim, { spec: { ...claim.spec, storageClassName: found.metadata.name } });
  };

  const nodeFor = (claim: Claim): Stored<Node> | undefined =>
    nodes.store.get(claim.metadata.annotations?.[SELECTED_NODE] ?? '');

  const syncOpen = async (given: Claim): Promise<void> => {
    const selected = given.metadata.annotations?.[SELECTED_NODE];
    const isDelayed =
      classes.store.get(classOf(given))?.volumeBindingMode === 'WaitForFirstConsumer' &&
      selected === undefined;
    const node = nodeFor(given);
    const volume = findVolume(given, volumes.store.list(), { isDelayed, node });
    if (volume) return writes.bind(volume, given);
    const claim = await writes.claimStatus(await withDefaultClass(given), 'Pending');
    if (claim !== given && classOf(claim) !== classOf(given)) return; // Its update brings it back here.
    const className = classOf(claim);
    if (isDelayed) return tellDelayed(claim);
    if (className === '') {
      events.event(
        claim,
        'Normal',
        'FailedBinding',
        'no persistent volumes available for this claim and no storage class is set',
      );
      return;
    }
    const storageClass = classes.store.get(className);
    if (!storageClass) {
      events.event(
        claim,
        'Warning',
        'ProvisioningFailed',
        `storageclass.storage.k8s.io "${className}" not found`,
      );
      return;
    }
    if (selected !== undefined && !node)
      throw new Error(`the node ${selected} of claim ${claim.metadata.name} is not known`);
    await provision(context, writes, claim, storageClass, node);
  };

  return async (claim) => {
    if (hasAnnotation(claim, BIND_COMPLETED)) return syncBound(claim);
    if (claim.metadata.deletionTimestamp) return;
    const name = claim.spec?.volumeName ?? '';
    await (name === '' ? syncOpen(claim) : syncNamed(claim, name));
  };
};
