import type { V1Node } from '../../../api/schema/index.ts';
import type { AdmissionPlugin } from '../attributes.ts';
import { handlesOnly, isResource, NODES } from '../matching.ts';

const NOT_READY = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' };

/** A new node takes no pods until the node controller has seen it ready and lifts the taint. */
export const taintNodesByCondition = (): AdmissionPlugin => ({
  name: 'TaintNodesByCondition',
  handles: handlesOnly('CREATE'),
  admit(attributes) {
    if (!isResource(attributes, NODES) || attributes.subresource !== '') return;
    const node = attributes.object as V1Node;
    const spec = (node.spec ??= {});
    const taints = spec.taints ?? [];
    if (taints.some(({ key, effect }) => key === NOT_READY.key && effect === NOT_READY.effect)) return;
    spec.taints = [...taints, { ...NOT_READY }];
  },
});
