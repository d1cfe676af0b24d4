import { expect, test } from 'vitest';
import { cutMiddle, splitForCut } from './middle-cut.ts';

test('a path keeps its last part', () => {
  expect(splitForCut('/home/ada/.kube/config')).toEqual({ start: '/home/ada/.kube', end: '/config' });
});

test('a name without parts keeps its last characters', () => {
  expect(splitForCut('kind-payments-preview-1432')).toEqual({ start: 'kind-payments-pr', end: 'eview-1432' });
});

test('a long name is cut to size in the middle, a short one is left alone', () => {
  const arn = 'arn:aws:eks:eu-central-1:481516234200:cluster/analytics';
  expect([cutMiddle(arn, 28), cutMiddle('staging', 28)]).toEqual(['arn:aws:eks:eu-ce…/analytics', 'staging']);
});
