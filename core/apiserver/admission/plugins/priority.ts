import type { KubernetesObject } from '../../../api/meta/index.ts';
import type { V1Pod, V1PodSpec, V1PriorityClass } from '../../../api/schema/index.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../attributes.ts';
import { handlesOnly, isResource, PODS } from '../matching.ts';
import type { ObjectReader } from '../../storage/object-reader.ts';
import { readOrFail, refusal } from '../refusal.ts';

const PRIORITY_CLASSES = { group: 'scheduling.k8s.io', resource: 'priorityclasses' };
const PRIORITY_WITHOUT_CLASS = 0;

/** What a pod gets; the name stays empty where there is no default class. */
interface Resolved {
  readonly name: string;
  readonly priority: number;
  readonly preemptionPolicy: string | undefined;
}

const resolved = ({ metadata, value, preemptionPolicy }: V1PriorityClass): Resolved => ({
  name: metadata?.name ?? '',
  priority: value ?? 0,
  preemptionPolicy,
});

/** Turns the name of a priority class into the numbers that the scheduler compares. */
export const priority = (reader: ObjectReader): AdmissionPlugin => {
  /** Two can be marked by a race: the lower counts. */
  const defaultClass = async (): Promise<V1PriorityClass | undefined> => {
    const classes = (await reader.list(PRIORITY_CLASSES, '')) as readonly V1PriorityClass[];
    return classes
      .filter(({ globalDefault }) => globalDefault === true)
      .reduce<V1PriorityClass | undefined>(
        (lowest, one) => (lowest === undefined || (one.value ?? 0) < (lowest.value ?? 0) ? one : lowest),
        undefined,
      );
  };
  const resolve = async (attributes: AdmissionAttributes, name: string): Promise<Resolved> => {
    if (name === '') {
      const found = await defaultClass();
      return found
        ? resolved(found)
        : { name: '', priority: PRIORITY_WITHOUT_CLASS, preemptionPolicy: 'PreemptLowerPriority' };
    }
    const found = await readOrFail(reader.get(PRIORITY_CLASSES, '', name));
    if (!found) throw refusal(attributes, `no PriorityClass with name ${name} was found`);
    return resolved(found as V1PriorityClass);
  };
  const admitCreate = async (attributes: AdmissionAttributes, spec: V1PodSpec): Promise<void> => {
    const wanted = await resolve(attributes, spec.priorityClassName ?? '');
    if (wanted.name !== '') spec.priorityClassName = wanted.name;
    if (spec.priority !== undefined && spec.priority !== wanted.priority)
      throw refusal(
        attributes,
        `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${wanted.priority} from the given PriorityClass name`,
      );
    spec.priority = wanted.priority;
    if (wanted.preemptionPolicy === undefined) return;
    if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== wanted.preemptionPolicy)
      throw refusal(
        attributes,
        `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${wanted.preemptionPolicy} from the given PriorityClass name`,
      );
    spec.preemptionPolicy = wanted.preemptionPolicy;
  };
  /** A client that does not know the fields must not lose them. */
  const keepOld = (spec: V1PodSpec, oldObject: KubernetesObject | undefined): void => {
    const old = (oldObject as V1Pod | undefined)?.spec;
    if (spec.priority === undefined && old?.priority !== undefined) spec.priority = old.priority;
    if (spec.preemptionPolicy === undefined && old?.preemptionPolicy !== undefined)
      spec.preemptionPolicy = old.preemptionPolicy;
  };

  return {
    name: 'Priority',
    handles: handlesOnly('CREATE', 'UPDATE'),
    async admit(attributes) {
      const { operation, subresource, object, oldObject } = attributes;
      const spec = (object as V1Pod | undefined)?.spec;
      if (subresource !== '' || !isResource(attributes, PODS) || !spec) return;
      if (operation === 'CREATE') await admitCreate(attributes, spec);
      else keepOld(spec, oldObject);
    },
    async validate(attributes) {
      const { operation, subresource, object } = attributes;
      if (subresource !== '' || !isResource(attributes, PRIORITY_CLASSES)) return;
      if ((object as V1PriorityClass | undefined)?.globalDefault !== true) return;
      const name = (await defaultClass())?.metadata?.name;
      if (name === undefined) return;
      if (operation === 'CREATE' || name !== object?.metadata?.name)
        throw refusal(
          attributes,
          `PriorityClass ${name} is already marked as default. Only one default can exist`,
        );
    },
  };
};
