import { badRequest, formatTime, type KubernetesObject, type ObjectMeta } from '../../../api/meta/index.ts';

/** The metadata of a draft, made if there is none. */
export const metaOf = (object: KubernetesObject): ObjectMeta => (object.metadata ??= {});

/** A copy whose top level and metadata may be changed. */
export const draftOf = (object: KubernetesObject): KubernetesObject => ({
  ...object,
  metadata: { ...object.metadata },
});

/** What only the server may say. */
export const wipeSystemFields = (meta: ObjectMeta): void => {
  delete meta.creationTimestamp;
  delete meta.uid;
  delete meta.deletionTimestamp;
  delete meta.deletionGracePeriodSeconds;
  delete meta.selfLink;
};

export const fillSystemFields = (meta: ObjectMeta, nowMs: number, uid: string): void => {
  meta.uid = uid;
  meta.creationTimestamp = formatTime(nowMs);
};

/** The object's namespace becomes that of the request; two that differ are refused. */
export const ensureNamespace = (meta: ObjectMeta, wanted: string): void => {
  const has = meta.namespace ?? '';
  if (has === wanted) return;
  if (wanted === '') delete meta.namespace;
  else if (has === '') meta.namespace = wanted;
  else
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
};

/** An update never moves these, whatever it says. */
export const keepSystemFields = (meta: ObjectMeta, old: ObjectMeta): void => {
  if (!meta.uid && old.uid !== undefined) meta.uid = old.uid;
  if (old.creationTimestamp) meta.creationTimestamp = old.creationTimestamp;
  if (old.deletionTimestamp !== undefined) meta.deletionTimestamp = old.deletionTimestamp;
  if (old.deletionGracePeriodSeconds !== undefined && meta.deletionGracePeriodSeconds === undefined)
    meta.deletionGracePeriodSeconds = old.deletionGracePeriodSeconds;
  delete meta.selfLink;
};

export const setGeneration = (meta: ObjectMeta, generation: number | undefined): void => {
  if (generation === undefined || generation === 0) delete meta.generation;
  else meta.generation = generation;
};
