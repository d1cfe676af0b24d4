import { expect, test } from 'vitest';
import type { AuditEventView } from '../../../core/contract/index.ts';
import { addressOf, EVERYTHING, objectText, queryOf } from './audit-query.ts';

const NOW_MS = 1_000_000_000;

test('the address of the page is the query', () => {
  const address = addressOf({ user: ' ada ', verb: 'write', span: '1h', denied: '1' });
  expect(queryOf('c', address, NOW_MS)).toEqual({
    cluster: 'c',
    user: 'ada',
    verb: 'write',
    object: '',
    resource: null,
    fromMs: NOW_MS - 3_600_000,
    toMs: null,
    onlyDenied: true,
    onlyPeople: true,
  });
});

test('the page opens with changes by people, and shows everything when asked', () => {
  const asked = (query: Record<string, string>) => {
    const { verb, onlyPeople } = queryOf('c', addressOf(query), NOW_MS);
    return { verb, onlyPeople };
  };
  expect(asked({})).toEqual({ verb: 'write', onlyPeople: true });
  expect(asked(EVERYTHING)).toEqual({ verb: '', onlyPeople: false });
});

test('an object is meant only with its resource and its name', () => {
  expect(addressOf({ resource: 'pods' }).resource).toBeNull();
  expect(addressOf({ resource: 'pods', namespace: 'web', name: 'a' }).resource).toEqual({
    group: '',
    resource: 'pods',
    namespace: 'web',
    name: 'a',
  });
  expect(addressOf({ span: 'for ever' }).span).toBe('all');
});

test('an event about no object shows its path', () => {
  const event = { namespace: 'web', resource: 'pods', name: 'a', subresource: 'exec', path: '/x' };
  expect(objectText(event as AuditEventView)).toBe('web/pods/a/exec');
  expect(objectText({ ...event, resource: '' } as AuditEventView)).toBe('/x');
});
