import { podLimits, podRequests } from '../../../core/api/quota/pod-resources.ts';
import { addResources, NO_RESOURCES, type ResourceList } from '../../../core/api/quota/resource-list.ts';
import type { V1Pod } from '../../../core/api/schema/generated/types.ts';
import { t } from '../../locales/i18n.ts';
import { at, entriesAt, listAt, textAt, type KubeObject } from '../kube-object.ts';
import { amountText, readAmount, shareOf, shareText } from './amounts.ts';
import {
  blocks,
  facts,
  mono,
  plain,
  section,
  toned,
  type Cell,
  type Related,
  type Section,
} from './section.ts';

const isOver = (pod: KubeObject): boolean => ['Succeeded', 'Failed'].includes(textAt(pod, 'status', 'phase'));

/** As `kubectl describe node` counts: what the scheduler reserves, without the pods that have ended. */
const sumOf = (pods: readonly KubeObject[], read: typeof podRequests): ResourceList => {
  let sum = NO_RESOURCES;
  for (const pod of pods) {
    if (isOver(pod)) continue;
    try {
      sum = addResources(sum, read(pod as V1Pod, { useStatus: true }));
    } catch {
      // A server may hold a quantity that we cannot read; that pod is not counted.
    }
  }
  return sum;
};

const usedCell = (resource: string, used: ResourceList | undefined, allocatable: string): Cell => {
  if (!used) return plain('–');
  const amount = used.get(resource);
  const [part, whole] = [amount?.toNumber() ?? 0, readAmount(allocatable)?.toNumber() ?? 0];
  const text = amountText(resource, amount?.toString() ?? '0');
  return {
    text: [text, shareText(part, whole)].filter(Boolean).join(', '),
    isMono: true,
    share: shareOf(part, whole),
  };
};

const podCountCell = (pods: readonly KubeObject[] | undefined, allocatable: string): Cell => {
  if (!pods) return plain('–');
  const [part, whole] = [pods.filter((pod) => !isOver(pod)).length, Number(allocatable) || 0];
  return {
    text: [`${part}`, shareText(part, whole)].filter(Boolean).join(', '),
    isMono: true,
    share: shareOf(part, whole),
  };
};

/** cpu and memory first, what nothing has last. */
const RESOURCE_ORDER = ['cpu', 'memory', 'pods', 'ephemeral-storage'];
const resourceRank = (name: string): number => {
  const rank = RESOURCE_ORDER.indexOf(name);
  return rank < 0 ? RESOURCE_ORDER.length : rank;
};

const capacityRows = (node: KubeObject, pods: readonly KubeObject[] | undefined): Cell[][] => {
  const requests = pods && sumOf(pods, podRequests);
  const limits = pods && sumOf(pods, podLimits);
  return entriesAt(node, 'status', 'allocatable')
    .filter(([name, value]) => !(name.startsWith('hugepages-') && readAmount(value)?.isZero === true))
    .sort(([a], [b]) => resourceRank(a) - resourceRank(b) || (a < b ? -1 : 1))
    .map(([name, allocatable]) => [
      mono(name),
      mono(amountText(name, at(node, 'status', 'capacity', name))),
      mono(amountText(name, allocatable)),
      name === 'pods' ? podCountCell(pods, allocatable) : usedCell(name, requests, allocatable),
      name === 'pods' ? plain('–') : usedCell(name, limits, allocatable),
    ]);
};

export const nodeSections = (node: KubeObject, { pods }: Related): Section[] => {
  const isCordoned = at(node, 'spec', 'unschedulable') === true;
  return [
    ...section(
      'node',
      t('sec.node'),
      blocks({
        form: 'facts',
        facts: facts(
          [
            t('sec.schedulable'),
            isCordoned ? toned(t('sec.schedulable.no'), 'warn') : toned(t('sec.schedulable.yes'), 'ok'),
          ],
          ...listAt(node, 'status', 'addresses').map(
            (address) => [textAt(address, 'type'), mono(textAt(address, 'address'))] as const,
          ),
          [t('sec.podCidrs'), mono(textAt(node, 'spec', 'podCIDR'))],
          [t('sec.kubelet'), textAt(node, 'status', 'nodeInfo', 'kubeletVersion')],
          [t('sec.runtime'), textAt(node, 'status', 'nodeInfo', 'containerRuntimeVersion')],
          [t('sec.os'), textAt(node, 'status', 'nodeInfo', 'osImage')],
          [
            t('sec.kernel'),
            [
              textAt(node, 'status', 'nodeInfo', 'kernelVersion'),
              textAt(node, 'status', 'nodeInfo', 'architecture'),
            ]
              .filter(Boolean)
              .join(', '),
          ],
        ),
      }),
    ),
    ...section(
      'capacity',
      t('sec.capacity'),
      blocks({
        form: 'table',
        head: [
          t('sec.resource'),
          t('sec.capacity.total'),
          t('sec.capacity.allocatable'),
          t('sec.capacity.requested'),
          t('sec.capacity.limits'),
        ],
        rows: capacityRows(node, pods),
      }),
    ),
    ...section(
      'taints',
      t('sec.taints'),
      blocks({
        form: 'table',
        head: [t('sec.taint.key'), t('sec.taint.value'), t('sec.taint.effect')],
        rows: listAt(node, 'spec', 'taints').map((taint) => [
          mono(textAt(taint, 'key')),
          mono(textAt(taint, 'value') || '–'),
          plain(textAt(taint, 'effect')),
        ]),
      }),
      { empty: t('sec.taints.none') },
    ),
  ];
};
