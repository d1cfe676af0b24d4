import {
  badRequest,
  type KubernetesObject,
  type ObjectMeta,
  type OwnerReference,
} from '../../api/meta/index.ts';
import { jsonEquals, type Json } from '../../api/patch/json.ts';
import type { HandlerCall } from './handler-call.ts';

/** The metadata of an object that the caller owns. */
export const metaOf = (object: KubernetesObject): ObjectMeta => (object.metadata ??= {});

/** What a client may not say of a new object. */
export const wipeSystemFields = (meta: ObjectMeta): void => {
  delete meta.creationTimestamp;
  delete meta.uid;
  delete meta.deletionTimestamp;
  delete meta.deletionGracePeriodSeconds;
  delete meta.selfLink;
};

/** The object is in the namespace of the request: it is put there where it says nothing. */
export const ensureNamespace = (meta: ObjectMeta, namespace: string): void => {
  const given = meta.namespace ?? '';
  if (given === namespace) return;
  if (namespace === '') delete meta.namespace;
  else if (given === '') meta.namespace = namespace;
  else
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
};

export const checkName = ({ name }: HandlerCall, meta: ObjectMeta): void => {
  if (!meta.name)
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    );
  if (meta.name !== name)
    throw badRequest(`the name of the object (${meta.name}) does not match the name on the URL (${name})`);
};

const DUPLICATE_OWNERS =
  '; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ';

/** An owner stands once; who sent it twice is told. */
export const dedupOwners = (
  meta: ObjectMeta,
  isAfterAdmission: boolean,
  warn: (text: string) => void,
): void => {
  const owners = meta.ownerReferences ?? [];
  if (owners.length < 2) return;
  const kept: OwnerReference[] = [];
  const duplicates: string[] = [];
  for (const owner of owners) {
    const isKnown = kept.some((other) => jsonEquals(other as unknown as Json, owner as unknown as Json));
    if (isKnown) duplicates.push(owner.uid);
    else kept.push(owner);
  }
  if (duplicates.length === 0) return;
  const when = isAfterAdmission ? ' after mutating admission happens' : '';
  warn(
    `.metadata.ownerReferences contains duplicate entries${when}${DUPLICATE_OWNERS}${duplicates.join(', ')}`,
  );
  meta.ownerReferences = kept;
};
