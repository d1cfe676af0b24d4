import { internalError, notFound, StatusError } from '../../../api/meta/index.ts';
import type { V1Pod, V1Toleration } from '../../../api/schema/index.ts';
import { messageOf } from '../../../base/errors.ts';
import { podQosClass } from '../../registry/strategies/pod-qos.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../attributes.ts';
import { readNamespace } from '../match/selectors.ts';
import { handlesOnly, isResource, NAMESPACES, PODS } from '../matching.ts';
import type { ObjectReader } from '../../storage/object-reader.ts';
import { includesToleration, mergeTolerations } from './tolerations.ts';

const DEFAULTS = 'scheduler.alpha.kubernetes.io/defaultTolerations';
const ALLOWED = 'scheduler.alpha.kubernetes.io/tolerationsWhitelist';
const MEMORY_PRESSURE: V1Toleration = {
  key: 'node.kubernetes.io/memory-pressure',
  operator: 'Exists',
  effect: 'NoSchedule',
};

export interface PodTolerationConfiguration {
  readonly default?: readonly V1Toleration[] | undefined;
  readonly whitelist?: readonly V1Toleration[] | undefined;
}

/** Namespaces say which tolerations their pods get, and which they may have. */
export const podTolerationRestriction = (
  reader: ObjectReader,
  configuration: PodTolerationConfiguration = {},
): AdmissionPlugin => {
  const annotated = async (name: string, key: string): Promise<readonly V1Toleration[] | undefined> => {
    const namespace = await readNamespace(reader, name);
    if (!namespace) throw notFound(NAMESPACES, name);
    const text = namespace.metadata?.annotations?.[key];
    if (text === undefined) return undefined;
    if (text === '') return [];
    try {
      return JSON.parse(text) as V1Toleration[];
    } catch (error) {
      throw internalError(messageOf(error), error);
    }
  };
  const podOf = (attributes: AdmissionAttributes): V1Pod | undefined =>
    attributes.subresource === '' && isResource(attributes, PODS) ? (attributes.object as V1Pod) : undefined;
  const check = async ({ namespace }: AdmissionAttributes, { spec }: V1Pod): Promise<void> => {
    const tolerations = spec?.tolerations ?? [];
    if (tolerations.length === 0) return;
    const own = await annotated(namespace, ALLOWED);
    const allowed = own ?? configuration.whitelist ?? [];
    if (allowed.length === 0) return;
    if (!tolerations.every((one) => allowed.some((other) => includesToleration(other, one))))
      throw new StatusError(
        '',
        `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${own ? 'namespace' : 'cluster'} whitelist`,
        { code: 500 },
      );
  };
  return {
    name: 'PodTolerationRestriction',
    handles: handlesOnly('CREATE', 'UPDATE'),
    async admit(attributes) {
      const pod = podOf(attributes);
      if (!pod?.spec) return;
      const extra =
        attributes.operation === 'CREATE'
          ? ((await annotated(attributes.namespace, DEFAULTS)) ?? configuration.default ?? [])
          : [];
      const all =
        podQosClass(pod.spec as unknown as Record<string, unknown>) === 'BestEffort'
          ? extra
          : [...extra, MEMORY_PRESSURE];
      if (all.length > 0) pod.spec.tolerations = mergeTolerations(pod.spec.tolerations ?? [], all);
      await check(attributes, pod);
    },
    async validate(attributes) {
      const pod = podOf(attributes);
      if (pod) await check(attributes, pod);
    },
  };
};
