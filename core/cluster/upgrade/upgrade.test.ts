import { expect, test } from 'vitest';
import { withImageTag } from '../data-folder/manifest-image.ts';
import { assertUpgradable, upgradeTargets } from './plan.ts';

test('an upgrade goes to the next minor and no further', () => {
  expect(upgradeTargets('v1.34.2')).toEqual(['v1.35.0']);
  expect(upgradeTargets('v1.36.0')).toEqual([]);
  assertUpgradable('v1.34.2', 'v1.35.0');
  assertUpgradable('v1.35.0', 'v1.35.1');
});

test.each([
  ['v1.34.0', 'v1.36.0', 'minor versions cannot be skipped'],
  ['v1.35.0', 'v1.34.0', 'downgrades are not supported'],
  ['v1.35.2', 'v1.35.1', 'downgrades are not supported'],
  ['v1.36.0', 'v1.37.0', 'the latest supported version'],
  ['v1.35.0', '1.36', 'versions must look like'],
])('%s to %s is refused', (from, to, why) => {
  expect(() => assertUpgradable(from, to)).toThrow(why);
});

test('another image tag leaves the rest of a manifest as it was written', () => {
  const text =
    'spec:\n  containers:\n    # mine\n    - image: registry.k8s.io/kube-apiserver:v1.35.0\n      name: x\n';
  expect(withImageTag(text, 'kube-apiserver', 'v1.36.0')).toBe(text.replace('v1.35.0', 'v1.36.0'));
  expect(withImageTag(text, 'kube-scheduler', 'v1.36.0')).toBe(text);
});
