import { expect, test } from 'vitest';
import { featuresOf } from './features.ts';

test('each release keeps the behaviour it had', () => {
  expect(['v1.34.2', 'v1.35.0', 'v1.36.0'].map(featuresOf)).toEqual([
    { balancedAllocationByChange: false, taintsInStatus: true },
    { balancedAllocationByChange: false, taintsInStatus: false },
    { balancedAllocationByChange: true, taintsInStatus: false },
  ]);
});
