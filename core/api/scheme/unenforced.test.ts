import { expect, test } from 'vitest';
import { registryOf } from './registry.ts';
import { UNENFORCED, unenforcedWarning } from './unenforced.ts';

test.each(UNENFORCED.map((one) => [one.kind, one] as const))(
  '%s is served under the names of the list',
  (_kind, one) => {
    const type = registryOf(36).findByResource(one);
    expect([type?.kind, unenforcedWarning(one)]).toEqual([
      one.kind,
      `${one.kind} is stored but not enforced: ${one.lacking}`,
    ]);
  },
);

test('an enforced level adds no warning', () => {
  expect(unenforcedWarning({ group: '', resource: 'pods' })).toBeUndefined();
});
