import { badRequest, conflict, StatusError, type KubernetesObject } from '../../../api/meta/index.ts';
import { aggregateText } from '../../../api/field/field-error.ts';
import { bindingErrors } from '../../../api/validation/kinds/pod.ts';
import { obj, objs, str, strMap, type Obj } from '../../../api/validation/read.ts';
import type { GenericStore } from '../generic/generic-store.ts';
import { mutate } from '../generic/mutate.ts';
import type { CreateOptions, RestStorage, Scope } from '../rest-storage.ts';
import { withPodCondition } from '../strategies/pods.ts';
import { answerOf, createdStatus } from './answer.ts';

const RESOURCE = { group: '', resource: 'pods/binding' };

const refusalOf = (pod: KubernetesObject): string | undefined => {
  const { name = '', deletionTimestamp } = pod.metadata ?? {};
  const spec = obj(pod, 'spec');
  const node = str(spec, 'nodeName');
  if (deletionTimestamp !== undefined) return `pod ${name} is being deleted, cannot be assigned to a host`;
  if (node !== '') return `pod ${name} is already assigned to node ${JSON.stringify(node)}`;
  if (objs(spec, 'schedulingGates').length > 0) return `pod ${name} has non-empty .spec.schedulingGates`;
  return undefined;
};

const assign = async (
  pods: GenericStore,
  scope: Scope,
  name: string,
  binding: KubernetesObject,
  options: CreateOptions,
): Promise<KubernetesObject> => {
  const { uid, resourceVersion, annotations, labels } = binding.metadata ?? {};
  if ((binding.metadata?.name ?? '') !== name)
    throw badRequest('name in URL does not match name in Binding object');
  const errors = bindingErrors(binding);
  if (errors.length > 0) throw new StatusError('', aggregateText(errors), { code: 500 });
  await options.validate(binding, undefined);
  await mutate(pods, scope, name, {
    dryRun: options.dryRun,
    preconditions: { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
    change(pod) {
      const refusal = refusalOf(pod);
      if (refusal !== undefined) throw conflict(RESOURCE, name, refusal);
      const { nominatedNodeName: _nominated, ...status } = obj(pod, 'status') as Record<string, unknown>;
      const meta = (pod.metadata ??= {});
      pod['spec'] = { ...obj(pod, 'spec'), nodeName: str(obj(binding, 'target'), 'name') };
      pod['status'] = withPodCondition(
        status,
        { type: 'PodScheduled', status: 'True' },
        pods.core.clock.nowMs(),
      );
      const bindingMeta = { annotations, labels } as Obj;
      if (annotations) meta.annotations = { ...meta.annotations, ...strMap(bindingMeta, 'annotations') };
      if (labels) meta.labels = { ...meta.labels, ...strMap(bindingMeta, 'labels') };
    },
  });
  return createdStatus();
};

/** `pods/binding`: the scheduler's one write. */
export const podBinding = (pods: GenericStore): RestStorage => ({
  createNamed: (scope, name, binding, options) => assign(pods, scope, name, binding, options),
});

/** The older way, where the name stands in the body alone. */
export const bindings = (pods: GenericStore): RestStorage => ({
  create: async (scope, binding, options) =>
    answerOf(await assign(pods, scope, binding.metadata?.name ?? '', binding, options)),
});
