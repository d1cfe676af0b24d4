import { forbidden } from '../../../api/meta/index.ts';
import type { V1Pod } from '../../../api/schema/index.ts';
import type { AdmissionPlugin } from '../attributes.ts';
import { handlesOnly, isResource, PODS } from '../matching.ts';

const HOSTNAME = 'kubernetes.io/hostname';

/** One pod must not keep others out of a whole zone. */
export const limitPodHardAntiAffinityTopology = (): AdmissionPlugin => ({
  name: 'LimitPodHardAntiAffinityTopology',
  handles: handlesOnly('CREATE', 'UPDATE'),
  validate(attributes) {
    if (attributes.subresource !== '' || !isResource(attributes, PODS)) return;
    const { metadata, spec } = attributes.object as V1Pod;
    const terms = spec?.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
    const wrong = terms.find(({ topologyKey }) => topologyKey !== HOSTNAME);
    if (wrong)
      throw forbidden(
        attributes.resource,
        metadata?.name ?? '',
        `affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey ${wrong.topologyKey} but only key ${HOSTNAME} is allowed`,
      );
  },
});
