import { jsonEquals, type Json } from '../../../api/patch/json.ts';
import type { V1Pod } from '../../../api/schema/index.ts';
import { goQuote } from '../../../api/field/go-text.ts';
import { obj, strs } from '../../../api/validation/read.ts';
import type { AdmissionPlugin } from '../attributes.ts';
import { handlesOnly, isResource, NODES, PODS } from '../matching.ts';
import type { ObjectReader } from '../../storage/object-reader.ts';
import { refusal } from '../refusal.ts';

const same = (a: unknown, b: unknown): boolean => jsonEquals((a ?? null) as Json, (b ?? null) as Json);

/** What an update asks of a node that older kubelets cannot do, by the name that nodes declare it under. */
const FEATURES: readonly {
  readonly name: string;
  readonly isNeeded: (old: V1Pod, next: V1Pod) => boolean;
}[] = [
  {
    name: 'InPlacePodLevelResourcesVerticalScaling',
    isNeeded: (old, next) => !same(old.spec?.resources, next.spec?.resources),
  },
  {
    name: 'InPlacePodVerticalScalingInitContainers',
    isNeeded: (old, next) =>
      (old.spec?.initContainers ?? []).some(
        ({ restartPolicy, resources }, at) =>
          restartPolicy !== 'Always' && !same(resources, next.spec?.initContainers?.[at]?.resources),
      ),
  },
];

/** A pod is not changed into something that its node says nothing of being able to do. */
export const nodeDeclaredFeatureValidator = (reader: ObjectReader): AdmissionPlugin => ({
  name: 'NodeDeclaredFeatureValidator',
  handles: handlesOnly('UPDATE'),
  async validate(attributes) {
    if (!isResource(attributes, PODS) || !['', 'resize'].includes(attributes.subresource)) return;
    const [next, old] = [attributes.object as V1Pod, attributes.oldObject as V1Pod];
    const name = next.spec?.nodeName ?? '';
    if (name === '' || old.metadata?.generation === next.metadata?.generation) return;
    const needed = FEATURES.filter(({ isNeeded }) => isNeeded(old, next));
    if (needed.length === 0) return;
    const node = await reader.get(NODES, '', name);
    if (!node) throw refusal(attributes, `node ${goQuote(name)} not found`);
    const declared = strs(obj(node, 'status'), 'declaredFeatures');
    const missing = needed.filter((feature) => !declared.includes(feature.name));
    if (missing.length > 0)
      throw refusal(
        attributes,
        `pod update requires features ${missing.map((feature) => feature.name).join(', ')} which are not available on node ${goQuote(name)}`,
      );
  },
});
