import type { KubernetesObject } from '../../../api/meta/index.ts';
import { obj, str } from '../../../api/validation/read.ts';
import type { AdmissionPlugin } from '../attributes.ts';
import { handlesOnly, isResource, NODES, PODS } from '../matching.ts';
import type { ObjectReader } from '../../storage/object-reader.ts';

const COPIED = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/** The node that a pod or a binding names; empty: none. */
const nodeOf = (object: KubernetesObject, subresource: string): string => {
  if (subresource === '') return str(obj(object, 'spec'), 'nodeName');
  const target = obj(object, 'target');
  return subresource === 'binding' && str(target, 'kind') === 'Node' ? str(target, 'name') : '';
};

/** Pods carry the zone and region of their node, so that what runs in them can be told by the downward API. */
export const podTopologyLabels = (reader: ObjectReader): AdmissionPlugin => ({
  name: 'PodTopologyLabels',
  handles: handlesOnly('CREATE'),
  async admit(attributes) {
    const { object, subresource } = attributes;
    if (!object || !isResource(attributes, PODS)) return;
    const name = nodeOf(object, subresource);
    const node = name === '' ? undefined : await reader.get(NODES, '', name);
    const labels = Object.entries(node?.metadata?.labels ?? {}).filter(([key]) => COPIED.includes(key));
    if (labels.length === 0) return;
    object.metadata = {
      ...object.metadata,
      labels: { ...object.metadata?.labels, ...Object.fromEntries(labels) },
    };
  },
});
