import type { Node, Stored } from '../../../client/index.ts';
import { say, verbatim } from '../../../contract/index.ts';
import type { Draft, Observation } from '../draft.ts';

type Condition = NonNullable<NonNullable<Node['status']>['conditions']>[number];

const PRESSURES = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable'];

const conditionsOf = (node: Stored<Node> | undefined): readonly Condition[] => node?.status?.conditions ?? [];
const find = (node: Stored<Node> | undefined, type: string): Condition | undefined =>
  conditionsOf(node).find((one) => one.type === type);
const isNotReady = (node: Stored<Node> | undefined): boolean =>
  node !== undefined && find(node, 'Ready')?.status !== 'True';

const nodeDraft = (node: Stored<Node>, draft: Pick<Draft, 'kind' | 'severity' | 'text' | 'span'>): Draft => ({
  lane: 'nodes',
  about: [node.metadata.name],
  source: `/cluster?kind=nodes&open=${encodeURIComponent(`/${node.metadata.name}`)}`,
  ...draft,
});

const spanOf = (node: Stored<Node>, what: string): string => `node/${node.metadata.name}/${what}`;

/** `before` is undefined for a node that was there when the watch began: only what is wrong with it is told. */
export const nodeChanges = (before: Stored<Node> | undefined, now: Stored<Node>): readonly Observation[] => {
  const { name } = now.metadata;
  const seen: Observation[] = [];
  if (isNotReady(now) !== isNotReady(before)) {
    const span = spanOf(now, 'Ready');
    const ready = find(now, 'Ready');
    if (isNotReady(now))
      seen.push(
        nodeDraft(now, {
          kind: 'nodeNotReady',
          severity: 'error',
          text: say('timeline.nodeNotReady', { node: name, why: verbatim(ready?.message ?? 'no status') }),
          span,
        }),
      );
    else seen.push({ end: span });
  }
  for (const type of PRESSURES) {
    const is = find(now, type)?.status === 'True';
    if (is === (find(before, type)?.status === 'True')) continue;
    const span = spanOf(now, type);
    if (is)
      seen.push(
        nodeDraft(now, {
          kind: 'nodeCondition',
          severity: 'warn',
          text: say('timeline.nodeCondition', { node: name, condition: type }),
          span,
        }),
      );
    else seen.push({ end: span });
  }
  const isCordoned = now.spec?.unschedulable === true;
  if (isCordoned !== (before?.spec?.unschedulable === true)) {
    const span = spanOf(now, 'cordoned');
    if (isCordoned)
      seen.push(
        nodeDraft(now, {
          kind: 'nodeCordoned',
          severity: 'info',
          text: say('timeline.nodeCordoned', { node: name }),
          span,
        }),
      );
    else seen.push({ end: span });
  }
  return seen;
};

export const nodeAdded = (node: Stored<Node>): Observation =>
  nodeDraft(node, {
    kind: 'nodeAdded',
    severity: 'info',
    text: say('timeline.nodeAdded', { node: node.metadata.name }),
  });

export const nodeRemoved = (node: Stored<Node>): readonly Observation[] => [
  ...['Ready', 'cordoned', ...PRESSURES].map((what) => ({ end: spanOf(node, what) })),
  nodeDraft(node, {
    kind: 'nodeRemoved',
    severity: 'warn',
    text: say('timeline.nodeRemoved', { node: node.metadata.name }),
  }),
];
