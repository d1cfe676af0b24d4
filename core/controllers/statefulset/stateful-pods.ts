import { messageOf } from '../../base/errors.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../api/meta/status.ts';
import { POD, type Pod, type Stored } from '../../client/index.ts';
import { areOwnersRight, createClaims, fixOwners, type ClaimControl } from './claims.ts';
import { identityMatches, ordinalOf, storageMatches, withIdentity, type StoredSet } from './identity.ts';

const tell = (
  { events }: ClaimControl,
  verb: 'Create' | 'Update' | 'Delete',
  set: StoredSet,
  pod: Pod,
  failure?: unknown,
): void => {
  const what = `${verb} Pod ${pod.metadata?.name} in StatefulSet ${set.metadata.name}`;
  if (failure === undefined) events.event(set, 'Normal', `Successful${verb}`, `${what} successful`);
  else events.event(set, 'Warning', `Failed${verb}`, `${what} failed error: ${messageOf(failure)}`);
};

/** Its name is its own: a second one cannot be made. */
export const createStatefulPod = async (control: ClaimControl, set: StoredSet, pod: Pod): Promise<void> => {
  try {
    await createClaims(control, set, pod);
    await control.client.resource(POD, set.metadata.namespace).create(pod);
  } catch (error) {
    if (!isAlreadyExists(error)) tell(control, 'Create', set, pod, error);
    throw error;
  }
  tell(control, 'Create', set, pod);
};

/** Puts right what somebody has changed of a pod's identity, storage or claims. */
export const repairStatefulPod = async (
  control: ClaimControl,
  set: StoredSet,
  pod: Stored<Pod>,
): Promise<void> => {
  const isIdentityRight = identityMatches(set, pod) && storageMatches(set, pod);
  if (isIdentityRight && areOwnersRight(control, set, pod)) return;
  try {
    if (!storageMatches(set, pod)) await createClaims(control, set, pod);
    await fixOwners(control, set, pod);
    if (isIdentityRight) return;
    await control.client.resource(POD, set.metadata.namespace).update(withIdentity(set, pod, ordinalOf(pod)));
  } catch (error) {
    tell(control, 'Update', set, pod, error);
    throw error;
  }
  tell(control, 'Update', set, pod);
};

export const deleteStatefulPod = async (
  control: ClaimControl,
  set: StoredSet,
  pod: Stored<Pod>,
): Promise<void> => {
  const { name, uid } = pod.metadata;
  try {
    await control.client.resource(POD, set.metadata.namespace).delete(name, { preconditions: { uid } });
  } catch (error) {
    // A conflict is another pod of that name: ours is gone.
    if (isNotFound(error) || isConflict(error)) return;
    tell(control, 'Delete', set, pod, error);
    throw error;
  }
  tell(control, 'Delete', set, pod);
};
