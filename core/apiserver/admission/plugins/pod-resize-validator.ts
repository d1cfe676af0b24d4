import { StatusError } from '../../../api/meta/index.ts';
import { podRequests, resourceListFrom } from '../../../api/quota/index.ts';
import { ZERO } from '../../../api/quantity/index.ts';
import type { V1Node, V1Pod } from '../../../api/schema/index.ts';
import { goQuote } from '../../../api/field/go-text.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../attributes.ts';
import { handlesOnly, isResource, NODES, PODS } from '../matching.ts';
import type { ObjectReader } from '../../storage/object-reader.ts';
import { refusal } from '../refusal.ts';

const refused = (attributes: AdmissionAttributes, reason: string, why: string): StatusError => {
  const { message, details } = refusal(attributes, why);
  return new StatusError('Forbidden', message, { code: 403, details: { ...details, causes: [{ reason }] } });
};

/** What a node could never give; undefined: it could. */
const excess = (pod: V1Pod, { status }: V1Node): string | undefined => {
  const allocatable = resourceListFrom(status?.allocatable);
  const requests = podRequests(pod, { useStatus: false });
  const of = (list: typeof requests, name: string) => list.get(name) ?? ZERO;
  const texts = [
    { name: 'cpu', amount: (list: typeof requests) => of(list, 'cpu').milliValue() },
    { name: 'memory', amount: (list: typeof requests) => of(list, 'memory').value() },
  ].flatMap(({ name, amount }) =>
    of(requests, name).compare(of(allocatable, name)) > 0
      ? [`${name}, requested: ${amount(requests)}, allocatable: ${amount(allocatable)}`]
      : [],
  );
  return texts.length === 0
    ? undefined
    : `node didn't have enough allocatable resources: ${texts.join('; ')}`;
};

/** A pod cannot grow beyond the node that it runs on. */
export const podResizeValidator = (reader: ObjectReader): AdmissionPlugin => ({
  name: 'PodResizeValidator',
  handles: handlesOnly('UPDATE'),
  async validate(attributes) {
    if (attributes.subresource !== 'resize' || !isResource(attributes, PODS)) return;
    const pod = attributes.object as V1Pod;
    const name = pod.spec?.nodeName ?? '';
    if (name === '' || pod.metadata?.generation === attributes.oldObject?.metadata?.generation) return;
    const node = (await reader.get(NODES, '', name)) as V1Node | undefined;
    if (!node) throw refusal(attributes, `node ${goQuote(name)} not found`);
    const os = node.metadata?.labels?.['kubernetes.io/os'] ?? 'linux';
    if (os !== 'linux')
      throw refused(
        attributes,
        'UnsupportedPlatform',
        `pod resize is only supported on linux nodes, node ${goQuote(name)} is ${goQuote(os)}`,
      );
    const why = excess(pod, node);
    if (why !== undefined) throw refused(attributes, 'NodeCapacity', why);
  },
});
