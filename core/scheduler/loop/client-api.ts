import { PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM, POD } from '../../client/index.ts';
import type { Client, EventRecorder, Kind } from '../../client/index.ts';
import type { KubernetesObject } from '../../api/meta/index.ts';
import type { SchedulerApi } from '../framework/scheduler-api.ts';
import type { Pod } from '../model/objects.ts';

/** Upstream's bound on what an event says. */
export const EVENT_NOTE_CHARACTERS_MAX = 1024;
const TRUNCATED = ' ...';

export const truncatedNote = (text: string): string =>
  text.length <= EVENT_NOTE_CHARACTERS_MAX
    ? text
    : text.slice(0, EVENT_NOTE_CHARACTERS_MAX - TRUNCATED.length) + TRUNCATED;

const named = ({ metadata }: Pod): { readonly namespace: string; readonly name: string } => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name ?? '',
});

/** The writes of scheduling as requests. Every one names the uid: a pod of the same name is another pod. */
export const clientApi = (client: Client, events: EventRecorder): SchedulerApi => ({
  async bind(pod, nodeName) {
    const { namespace, name } = named(pod);
    await client.resource(POD, namespace).createSubresource(name, 'binding', {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { namespace, name, uid: pod.metadata.uid },
      target: { kind: 'Node', name: nodeName },
    });
  },
  async patchPodStatus(pod, { condition, nominatedNodeName }) {
    const { namespace, name } = named(pod);
    const status = {
      ...(condition && { conditions: [condition] }),
      ...(nominatedNodeName !== undefined && { nominatedNodeName: nominatedNodeName || null }),
    };
    await client
      .resource(POD, namespace)
      .patchStatus(name, { type: 'strategic', body: { metadata: { uid: pod.metadata.uid }, status } });
  },
  async deletePod(pod) {
    const { namespace, name } = named(pod);
    const { uid } = pod.metadata;
    await client.resource(POD, namespace).delete(name, { ...(uid && { preconditions: { uid } }) });
  },
  async updateVolume(volume) {
    const kind = PERSISTENT_VOLUME as Kind;
    return (await client
      .resource(kind)
      .update(volume as unknown as KubernetesObject)) as unknown as typeof volume;
  },
  async updateClaim(claim) {
    const kind = PERSISTENT_VOLUME_CLAIM as Kind;
    return (await client
      .resource(kind, claim.metadata.namespace)
      .update(claim as unknown as KubernetesObject)) as unknown as typeof claim;
  },
  event({ pod, type, reason, note }) {
    const object = { apiVersion: 'v1', kind: 'Pod', ...pod } as unknown as KubernetesObject;
    events.event(object, type, reason, truncatedNote(note));
  },
});
