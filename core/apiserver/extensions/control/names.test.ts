import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import { hasItsNames, withAcceptedNames } from './names.ts';

const definition = (
  plural: string,
  names: Record<string, unknown> = {},
  more: KubernetesObject = {},
): KubernetesObject => ({
  ...more,
  metadata: { name: `${plural}.example.com`, ...more.metadata },
  spec: {
    group: 'example.com',
    names: { plural, singular: plural, kind: plural.toUpperCase(), listKind: `${plural}List`, ...names },
    ...(more['spec'] as object | undefined),
  },
});

const NOW = '2026-01-01T00:00:00Z';

const summary = ({ status }: KubernetesObject): unknown => {
  const { acceptedNames, conditions } = status as {
    acceptedNames: unknown;
    conditions: { type: string; status: string; reason: string; message: string }[];
  };
  return [acceptedNames, conditions.map((one) => `${one.type} ${one.status} ${one.reason}: ${one.message}`)];
};

test('free names are accepted, and a definition that has them is left alone', () => {
  const accepted = withAcceptedNames(definition('a', { shortNames: ['x'] }), [], NOW);
  expect(summary(accepted)).toEqual([
    { plural: 'a', singular: 'a', kind: 'A', listKind: 'aList', shortNames: ['x'] },
    [
      'NamesAccepted True NoConflicts: no conflicts found',
      'Established True InitialNamesAccepted: the initial names have been accepted',
    ],
  ]);
  expect(withAcceptedNames(accepted, [], '2027-01-01T00:00:00Z')).toBe(accepted);
  expect([hasItsNames(definition('a')), hasItsNames(accepted)]).toEqual([false, true]);
});

test('a name in use is not accepted, and what is established stays so', () => {
  const first = withAcceptedNames(definition('a', { shortNames: ['x'] }), [], NOW);
  const second = withAcceptedNames(definition('b', { shortNames: ['x', 'a', 'y'] }), [first], NOW);
  expect(summary(second)).toEqual([
    { plural: 'b', singular: 'b', kind: 'B', listKind: 'bList' },
    [
      'NamesAccepted False ShortNamesConflict: ["x" is already in use, "a" is already in use]',
      'Established False NotAccepted: not all names are accepted',
    ],
  ]);
  const renamed = withAcceptedNames(
    { ...definition('a', { shortNames: ['b'] }), status: first['status'] },
    [second],
    NOW,
  );
  expect((summary(renamed) as [unknown, string[]])[1]).toEqual([
    'NamesAccepted False ShortNamesConflict: "b" is already in use',
    'Established True InitialNamesAccepted: the initial names have been accepted',
  ]);
});

test('groups of the community say whether somebody approved', () => {
  const approved = (annotation?: string): unknown => {
    const made = withAcceptedNames(
      definition(
        'a',
        {},
        {
          metadata:
            annotation === undefined ? {} : { annotations: { 'api-approved.kubernetes.io': annotation } },
          spec: { group: 'x.k8s.io', names: { plural: 'a', singular: 'a', kind: 'A', listKind: 'AList' } },
        },
      ),
      [],
      NOW,
    );
    return (summary(made) as [unknown, string[]])[1].at(-1);
  };
  expect([approved('https://example.com/1'), approved('unapproved, test')]).toEqual([
    'KubernetesAPIApprovalPolicyConformant True ApprovedAnnotation: approved in https://example.com/1',
    'KubernetesAPIApprovalPolicyConformant False UnapprovedAnnotation: not approved: "unapproved, test"',
  ]);
});
