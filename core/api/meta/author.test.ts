import { expect, test } from 'vitest';
import { authorOf } from './author.ts';
import type { KubernetesObject } from './object-meta.ts';

const entry = (manager: string, time: string, subresource = '') => ({
  manager,
  operation: 'Update',
  time,
  ...(subresource !== '' && { subresource }),
});
const object = (...managedFields: readonly object[]) => ({ metadata: { managedFields } }) as KubernetesObject;
const KUBECTL = entry('kubectl', '2026-01-01T00:00:00Z');
const HELM = entry('helm', '2026-01-01T00:00:05Z');
const STATUS = entry('kube-controller-manager', '2026-01-01T00:00:09Z', 'status');

test('the author of a version is the field manager whose entry is new', () => {
  expect(authorOf(object(HELM, KUBECTL), object(HELM))?.manager).toBe('kubectl');
  expect(authorOf(object())).toBeUndefined();
});

test('without a version before it is the newest of those that count', () => {
  expect(authorOf(object(KUBECTL, HELM, STATUS))?.manager).toBe('kube-controller-manager');
  const spec = authorOf(object(KUBECTL, HELM, STATUS), undefined, ({ subresource }) => subresource === '');
  expect(spec).toEqual({
    manager: 'helm',
    operation: 'Update',
    subresource: '',
    atMs: Date.parse('2026-01-01T00:00:05Z'),
  });
});
