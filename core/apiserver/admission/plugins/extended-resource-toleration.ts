import { isExtendedResource } from '../../../api/quota/index.ts';
import type { V1Pod } from '../../../api/schema/index.ts';
import type { AdmissionPlugin } from '../attributes.ts';
import { handlesOnly, isResource, PODS } from '../matching.ts';
import { withToleration } from './tolerations.ts';

/** Nodes with special hardware can be tainted by its name: pods that ask for it tolerate that. */
export const extendedResourceToleration = (): AdmissionPlugin => ({
  name: 'ExtendedResourceToleration',
  handles: handlesOnly('CREATE', 'UPDATE'),
  admit(attributes) {
    const spec = (attributes.object as V1Pod | undefined)?.spec;
    if (attributes.subresource !== '' || !isResource(attributes, PODS) || !spec) return;
    const containers = [...spec.containers, ...(spec.initContainers ?? [])];
    const names = new Set(
      containers
        .flatMap(({ resources }) => Object.keys(resources?.requests ?? {}))
        .filter(isExtendedResource),
    );
    for (const key of [...names].sort())
      spec.tolerations = withToleration(spec.tolerations ?? [], {
        key,
        operator: 'Exists',
        effect: 'NoSchedule',
      });
  },
});
