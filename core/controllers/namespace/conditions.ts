import { groupResourceText, withCondition, type Condition } from '../../api/meta/index.ts';
import type { V1NamespaceCondition } from '../../api/schema/index.ts';
import type { Kind } from '../../client/index.ts';

/** What one pass over a namespace found. */
export interface Findings {
  readonly discoveryFailures: readonly string[];
  readonly deletionFailures: readonly string[];
  readonly remaining: ReadonlyMap<Kind, number>;
  readonly finalizers: ReadonlyMap<string, number>;
}

interface ConditionVerdict {
  readonly type: string;
  readonly ok: readonly [reason: string, message: string];
  /** Undefined if there is no problem. */
  bad(findings: Findings): readonly [reason: string, message: string] | undefined;
}

const countsText = (counts: readonly string[]): string => [...counts].sort().join(', ');

/** As upstream writes a resource here: `pods.` for the core group. */
const resourceText = ({ group, plural }: Kind): string =>
  group === '' ? `${plural}.` : groupResourceText({ group, resource: plural });

const VERDICTS: readonly ConditionVerdict[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    ok: ['ResourcesDiscovered', 'All resources successfully discovered'],
    bad: ({ discoveryFailures: failed }) =>
      failed.length === 0
        ? undefined
        : [
            'DiscoveryFailed',
            `Discovery failed for some groups, ${failed.length} failing: ${failed.join('; ')}`,
          ],
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    ok: ['ParsedGroupVersions', 'All legacy kube types successfully parsed'],
    bad: () => undefined,
  },
  {
    type: 'NamespaceDeletionContentFailure',
    ok: ['ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
    bad: ({ deletionFailures: failed }) =>
      failed.length === 0
        ? undefined
        : [
            'ContentDeletionFailed',
            `Failed to delete all resource types, ${failed.length} remaining: ${failed.join(', ')}`,
          ],
  },
  {
    type: 'NamespaceContentRemaining',
    ok: ['ContentRemoved', 'All content successfully removed'],
    bad: ({ remaining }) => {
      const texts = [...remaining].map(
        ([kind, count]) => `${resourceText(kind)} has ${count} resource instances`,
      );
      return texts.length === 0
        ? undefined
        : ['SomeResourcesRemain', `Some resources are remaining: ${countsText(texts)}`];
    },
  },
  {
    type: 'NamespaceFinalizersRemaining',
    ok: ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
    bad: ({ finalizers }) => {
      const texts = [...finalizers].map(([name, count]) => `${name} in ${count} resource instances`);
      return texts.length === 0
        ? undefined
        : [
            'SomeFinalizersRemain',
            `Some content in the namespace has finalizers remaining: ${countsText(texts)}`,
          ];
    },
  },
];

/** The conditions after a pass; the same array when nothing is new. */
export const conditionsAfter = (
  before: readonly V1NamespaceCondition[] | undefined,
  findings: Findings,
  now: string,
): readonly V1NamespaceCondition[] =>
  VERDICTS.reduce<readonly Condition[]>(
    (conditions, { type, ok, bad }) => {
      const failure = bad(findings);
      const [reason, message] = failure ?? ok;
      return withCondition(conditions, { type, status: failure ? 'True' : 'False', reason, message }, now);
    },
    (before ?? []) as readonly Condition[],
  );
