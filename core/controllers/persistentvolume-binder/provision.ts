import { messageOf } from '../../base/errors.ts';
import { isAlreadyExists } from '../../api/meta/index.ts';
import { PERSISTENT_VOLUME } from '../../client/index.ts';
import type { Node, StorageClass, Stored } from '../../client/index.ts';
import type { ControllerContext } from '../runtime/controller.ts';
import { LOCAL_PROVISIONER, localVolume, volumeNameFor } from './local-provisioner.ts';
import { STORAGE_PROVISIONER, STORAGE_PROVISIONER_BETA, type Claim } from './volume-facts.ts';
import type { VolumeWrites } from './volume-writes.ts';

const NO_PROVISIONER = 'kubernetes.io/no-provisioner';

/** Has a volume made for a claim that no volume fits. The new volume is bound when it is seen. */
export const provision = async (
  { client, events }: ControllerContext,
  writes: VolumeWrites,
  claim: Claim,
  storageClass: Stored<StorageClass>,
  node: Node | undefined,
): Promise<void> => {
  const { provisioner } = storageClass;
  if (provisioner === NO_PROVISIONER) {
    events.event(
      claim,
      'Normal',
      'FailedBinding',
      'no persistent volumes available for this claim and no storage class is set',
    );
    return;
  }
  const annotations = claim.metadata.annotations ?? {};
  const isTold =
    annotations[STORAGE_PROVISIONER] === provisioner && annotations[STORAGE_PROVISIONER_BETA] === provisioner;
  const told = isTold
    ? claim
    : await writes.updateClaim(claim, {
        metadata: {
          ...claim.metadata,
          annotations: {
            ...annotations,
            [STORAGE_PROVISIONER]: provisioner,
            [STORAGE_PROVISIONER_BETA]: provisioner,
          },
        },
      });
  if (provisioner !== LOCAL_PROVISIONER) {
    events.event(
      claim,
      'Normal',
      'ExternalProvisioning',
      `Waiting for a volume to be created either by the external provisioner '${provisioner}' or manually by the system ` +
        'administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.',
    );
    return;
  }
  try {
    await client.resource(PERSISTENT_VOLUME).create(localVolume(told, storageClass, node));
  } catch (error) {
    if (isAlreadyExists(error)) return;
    events.event(
      claim,
      'Warning',
      'ProvisioningFailed',
      `Failed to provision volume with StorageClass "${storageClass.metadata.name}": ${messageOf(error)}`,
    );
    throw error;
  }
  events.event(
    claim,
    'Normal',
    'ProvisioningSucceeded',
    `Successfully provisioned volume ${volumeNameFor(claim)} using ${provisioner}`,
  );
};
