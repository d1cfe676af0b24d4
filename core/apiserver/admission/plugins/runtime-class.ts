import { resourceListFrom, sameResources } from '../../../api/quota/index.ts';
import type { V1Pod, V1PodSpec, V1RuntimeClass } from '../../../api/schema/index.ts';
import { goQuote } from '../../../api/field/go-text.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../attributes.ts';
import { handlesOnly, isResource, PODS } from '../matching.ts';
import type { ObjectReader } from '../../storage/object-reader.ts';
import { readOrFail, refusal } from '../refusal.ts';
import { mergeTolerations } from './tolerations.ts';

const RUNTIME_CLASSES = { group: 'node.k8s.io', resource: 'runtimeclasses' };
const MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

type Overhead = Record<string, string>;
const sameOverhead = (a: Overhead, b: Overhead | undefined): boolean =>
  sameResources(resourceListFrom(a), resourceListFrom(b));

const setScheduling = (
  attributes: AdmissionAttributes,
  spec: V1PodSpec,
  { nodeSelector = {}, tolerations = [] }: NonNullable<V1RuntimeClass['scheduling']>,
): void => {
  for (const [key, value] of Object.entries(nodeSelector)) {
    const own = spec.nodeSelector?.[key];
    if (own !== undefined && own !== value)
      throw refusal(
        attributes,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`,
      );
  }
  if (Object.keys(nodeSelector).length > 0) spec.nodeSelector = { ...spec.nodeSelector, ...nodeSelector };
  const merged = mergeTolerations(spec.tolerations ?? [], tolerations);
  if (merged.length > 0) spec.tolerations = merged;
};

/** A pod carries the overhead of its runtime and goes where that runtime is. */
export const runtimeClass = (reader: ObjectReader): AdmissionPlugin => {
  const specOf = (attributes: AdmissionAttributes): V1PodSpec | undefined =>
    attributes.subresource === '' && isResource(attributes, PODS)
      ? (attributes.object as V1Pod | undefined)?.spec
      : undefined;
  const classOf = async (
    attributes: AdmissionAttributes,
    { runtimeClassName: name }: V1PodSpec,
  ): Promise<V1RuntimeClass | undefined> => {
    if (name === undefined) return undefined;
    const found =
      (await readOrFail(reader.get(RUNTIME_CLASSES, '', name))) ??
      (await readOrFail(reader.get(RUNTIME_CLASSES, '', name, { live: true })));
    if (!found) throw refusal(attributes, `pod rejected: RuntimeClass ${goQuote(name)} not found`);
    return found as unknown as V1RuntimeClass;
  };
  return {
    name: 'RuntimeClass',
    handles: handlesOnly('CREATE'),
    async admit(attributes) {
      const spec = specOf(attributes);
      const found = spec && (await classOf(attributes, spec));
      if (!spec || !found) return;
      if (found.overhead) {
        const fixed = found.overhead.podFixed ?? {};
        if (Object.keys(spec.overhead ?? {}).length > 0 && !sameOverhead(fixed, spec.overhead))
          throw refusal(attributes, MISMATCH);
        spec.overhead = { ...fixed };
      }
      if (found.scheduling) setScheduling(attributes, spec, found.scheduling);
    },
    async validate(attributes) {
      const spec = specOf(attributes);
      if (!spec) return;
      const overhead = (await classOf(attributes, spec))?.overhead;
      if (overhead && !sameOverhead(overhead.podFixed ?? {}, spec.overhead))
        throw refusal(attributes, MISMATCH);
      if (!overhead && spec.overhead !== undefined)
        throw refusal(
          attributes,
          'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
        );
    },
  };
};
