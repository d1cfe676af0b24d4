import { messageOf, ReasonError } from '../../base/errors.ts';
import type { ObjectMeta, OwnerReference } from '../../api/meta/object-meta.ts';
import { isConflict, isNotFound, isStatusError } from '../../api/meta/status.ts';
import type { V1PodTemplateSpec } from '../../api/schema/index.ts';
import { POD, type Client, type EventRecorder, type Pod, type Stored } from '../../client/index.ts';

/** Where and for whom pods are made and deleted: under the rights of `client`, told as events of the owner. */
export interface PodControl {
  readonly client: Client;
  readonly events: EventRecorder;
}

/** Everything that is created in such a namespace is refused until it is gone. */
export const isNamespaceTerminating = (error: unknown): boolean =>
  isStatusError(error) &&
  (error.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating');

/** A pod as a template describes it. The server makes up the end of its name. */
export const podFromTemplate = (
  template: V1PodTemplateSpec | undefined,
  ownerName: string,
  reference: OwnerReference,
): Pod => {
  const { labels, annotations, finalizers } = template?.metadata ?? {};
  const metadata: ObjectMeta = {
    generateName: `${ownerName}-`,
    ownerReferences: [reference],
    ...(labels && { labels: { ...labels } }),
    ...(annotations && { annotations: { ...annotations } }),
    ...(finalizers && { finalizers: [...finalizers] }),
  };
  return { metadata, spec: structuredClone(template?.spec ?? { containers: [] }) };
};

/** Rejects with what the server said, which is an event as well; not where the namespace is going away. */
export const createPod = async (
  { client, events }: PodControl,
  owner: Stored,
  pod: Pod,
): Promise<Stored<Pod>> => {
  if (Object.keys(pod.metadata?.labels ?? {}).length === 0)
    throw new ReasonError('TemplateWithoutLabels', 'unable to create pods, no labels');
  try {
    const created = await client.resource(POD, owner.metadata.namespace).create(pod);
    events.event(owner, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`);
    return created;
  } catch (error) {
    if (!isNamespaceTerminating(error))
      events.event(owner, 'Warning', 'FailedCreate', `Error creating: ${messageOf(error)}`);
    throw error;
  }
};

/** Deletes that very pod; resolves with false when it is gone already. */
export const deletePod = async (
  { client, events }: PodControl,
  owner: Stored,
  pod: Stored<Pod>,
): Promise<boolean> => {
  const { namespace, name, uid } = pod.metadata;
  try {
    await client.resource(POD, namespace).delete(name, { preconditions: { uid } });
    events.event(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`);
    return true;
  } catch (error) {
    // A conflict is one of another uid under that name: ours is gone.
    if (isNotFound(error) || isConflict(error)) return false;
    events.event(owner, 'Warning', 'FailedDelete', `Error deleting: ${messageOf(error)}`);
    throw new ReasonError('PodNotDeleted', `unable to delete pods: ${messageOf(error)}`, { cause: error });
  }
};
