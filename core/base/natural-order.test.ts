import { expect, test } from 'vitest';
import { naturalOrder } from './natural-order.ts';

test('numbers in names count as numbers', () => {
  expect(['cp-10', 'cp-2', 'cp-1', 'etcd-1', 'worker-9', 'worker-11'].sort(naturalOrder)).toEqual([
    'cp-1',
    'cp-2',
    'cp-10',
    'etcd-1',
    'worker-9',
    'worker-11',
  ]);
});
