import { notFound, type KubernetesObject } from '../../../api/meta/index.ts';
import { fieldLookupOf } from '../../../api/scheme/index.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Store } from '../../storage/store.ts';
import { selectionOf } from '../generic/selection.ts';
import type { RestStorage } from '../rest-storage.ts';
import { answerOf } from '../subresources/answer.ts';

/** How one component is asked for its health: resolves with what it says, throws when it is not well. */
export type ComponentProbe = () => Promise<string>;

export const etcdProbe =
  (store: Store): ComponentProbe =>
  async () => {
    await store.currentRevision();
    return 'ok';
  };

const COMPONENT_STATUS = { group: '', kind: 'ComponentStatus' };

const statusOf = async (name: string, probe: ComponentProbe): Promise<KubernetesObject> => {
  const condition = await probe().then(
    (message) => ({ type: 'Healthy', status: 'True', message }),
    (error: unknown) => ({ type: 'Healthy', status: 'Unknown', error: messageOf(error) }),
  );
  return { kind: 'ComponentStatus', apiVersion: 'v1', metadata: { name }, conditions: [condition] };
};

/** Deprecated upstream since 1.19 and still asked for by habit: `kubectl get cs`. */
export const componentStatuses = (probes: Readonly<Record<string, ComponentProbe>>): RestStorage => ({
  async get(_scope, name) {
    const probe = Object.hasOwn(probes, name) ? probes[name] : undefined;
    if (probe === undefined) throw notFound({ group: '', resource: 'componentstatus' }, name);
    return answerOf(await statusOf(name, probe));
  },
  async list(_scope, options) {
    const selection = selectionOf((object) => fieldLookupOf(COMPONENT_STATUS, object), options);
    const all = await Promise.all(Object.entries(probes).map(([name, probe]) => statusOf(name, probe)));
    return { items: all.filter((one) => selection.matches(one)).map(answerOf), resourceVersion: '' };
  },
});
