import { messageOf, ReasonError } from '../../base/errors.ts';
import type { OwnerReference } from '../../api/meta/object-meta.ts';
import { isAlreadyExists } from '../../api/meta/status.ts';
import {
  canonicalJson,
  controllerReference,
  PERSISTENT_VOLUME_CLAIM,
  POD,
  STATEFUL_SET,
  type Client,
  type EventRecorder,
  type PersistentVolumeClaim,
  type Pod,
  type Store,
  type Stored,
} from '../../client/index.ts';
import { claimNameOf, isInRange, ordinalOf, type StoredSet } from './identity.ts';

type Claim = Stored<PersistentVolumeClaim>;

export interface ClaimControl {
  readonly client: Client;
  readonly events: EventRecorder;
  readonly claims: Store<PersistentVolumeClaim>;
}

const refersTo = (
  reference: OwnerReference,
  kind: 'StatefulSet' | 'Pod',
  name: string | undefined,
): boolean =>
  reference.kind === kind &&
  reference.name === name &&
  reference.apiVersion === (kind === 'Pod' ? 'v1' : 'apps/v1');

const policyOf = (set: StoredSet): { readonly onDelete: boolean; readonly onScale: boolean } => {
  const { whenDeleted, whenScaled } = set.spec?.persistentVolumeClaimRetentionPolicy ?? {};
  return { onDelete: whenDeleted === 'Delete', onScale: whenScaled === 'Delete' };
};

/** References to a set or pod of that name that is another one: the collector deals with them. */
const isStale = (claim: Claim, set: StoredSet, pod: Pod): boolean =>
  (claim.metadata.ownerReferences ?? []).some(
    (reference) =>
      (refersTo(reference, 'StatefulSet', set.metadata.name) && reference.uid !== set.metadata.uid) ||
      (refersTo(reference, 'Pod', pod.metadata?.name) && reference.uid !== pod.metadata?.uid),
  );

/**
 * The owners that a claim should have for it to go, or stay, with its pod and its set as the policy says: the set owns
 * it while the pod is wanted, the pod itself once it was scaled away. Undefined when they are right.
 */
export const ownersOf = (claim: Claim, set: StoredSet, pod: Pod): OwnerReference[] | undefined => {
  const held = claim.metadata.ownerReferences ?? [];
  if (isStale(claim, set, pod)) return undefined;
  const others = held.filter(({ uid }) => uid !== set.metadata.uid && uid !== pod.metadata?.uid);
  const { onDelete, onScale } = policyOf(set);
  const isForeign = (onDelete || onScale) && others.some(({ controller }) => controller === true);
  const isCondemned = !isInRange(set, pod);
  const wanted = [...others];
  if (!isForeign) {
    if (onDelete && !(onScale && isCondemned)) wanted.push(controllerReference(STATEFUL_SET, set));
    if (onScale && isCondemned) wanted.push(controllerReference(POD, pod as Stored<Pod>));
  }
  return canonicalJson(wanted) === canonicalJson(held) ? undefined : wanted;
};

const claimsOf = ({ claims }: ClaimControl, set: StoredSet, pod: Pod): Claim[] =>
  (set.spec?.volumeClaimTemplates ?? []).flatMap(
    (template) => claims.find(set.metadata.namespace, claimNameOf(set, template, ordinalOf(pod))) ?? [],
  );

export const areOwnersRight = (control: ClaimControl, set: StoredSet, pod: Pod): boolean =>
  claimsOf(control, set, pod).every((claim) => !ownersOf(claim, set, pod));

export const fixOwners = async (control: ClaimControl, set: StoredSet, pod: Pod): Promise<void> => {
  for (const claim of claimsOf(control, set, pod)) {
    const ownerReferences = ownersOf(claim, set, pod);
    if (!ownerReferences) continue;
    await control.client
      .resource(PERSISTENT_VOLUME_CLAIM, claim.metadata.namespace)
      .update({ ...claim, metadata: { ...claim.metadata, ownerReferences } });
  }
};

/** A claim that is deleted with an old pod must be gone first, or the new pod would lose it. */
export const hasLeavingClaim = (control: ClaimControl, set: StoredSet, pod: Pod): boolean =>
  policyOf(set).onScale &&
  claimsOf(control, set, pod).some((claim) =>
    (claim.metadata.ownerReferences ?? []).some((reference) =>
      refersTo(reference, 'Pod', pod.metadata?.name),
    ),
  );

/** Makes the claims of a pod that are not there. Rejects after trying all. */
export const createClaims = async (control: ClaimControl, set: StoredSet, pod: Pod): Promise<void> => {
  const { client, events, claims } = control;
  const failures: string[] = [];
  for (const template of set.spec?.volumeClaimTemplates ?? []) {
    const name = claimNameOf(set, template, ordinalOf(pod));
    const held = claims.find(set.metadata.namespace, name);
    if (held?.metadata.deletionTimestamp) failures.push(`pvc ${name} is being deleted`);
    if (held) continue;
    const labels = { ...template.metadata?.labels, ...set.spec?.selector.matchLabels };
    const { annotations } = template.metadata ?? {};
    const where = `Pod ${pod.metadata?.name} in StatefulSet ${set.metadata.name}`;
    try {
      await client.resource(PERSISTENT_VOLUME_CLAIM, set.metadata.namespace).create({
        metadata: { name, labels, ...(annotations && { annotations }) },
        ...(template.spec && { spec: structuredClone(template.spec) }),
      });
      events.event(set, 'Normal', 'SuccessfulCreate', `Create Claim ${name} ${where} success`);
    } catch (error) {
      if (isAlreadyExists(error)) continue;
      const message = `Create Claim ${name} for ${where} failed error: ${messageOf(error)}`;
      events.event(set, 'Warning', 'FailedCreate', message);
      failures.push(`failed to create PVC ${name}: ${messageOf(error)}`);
    }
  }
  if (failures.length > 0) throw new ReasonError('ClaimsMissing', failures.join(', '));
};
