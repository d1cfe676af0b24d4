import { expect, test } from 'vitest';
import { userInfo } from '../server/user.ts';
import { abacAuthorizer } from './abac.ts';
import { pathAttributes, resourceAttributes } from './authorizer.ts';

const policy = (spec: object): string =>
  JSON.stringify({ apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy', spec });

const FILE = [
  '# who may do what',
  '',
  policy({ user: 'ada', namespace: '*', resource: '*', apiGroup: '*' }),
  policy({ user: 'bob', namespace: 'shop', resource: 'pods', readonly: true }),
  policy({ group: 'probes', nonResourcePath: '/health*', readonly: true }),
  policy({ user: 'eve', group: 'ops', namespace: 'shop', resource: 'pods' }),
  policy({ namespace: '*', resource: '*', apiGroup: '*' }),
  '{"user":"old","resource":"pods"}',
].join('\n');

const asks = (
  name: string,
  verb: string,
  parts: Partial<Parameters<typeof resourceAttributes>[1]> = {},
  groups: string[] = [],
) => resourceAttributes(userInfo(name, groups), { resource: 'pods', namespace: 'shop', ...parts, verb });

test.each([
  ['ada does anything', asks('ada', 'delete', { apiGroup: 'apps', resource: 'deployments' }), 'allow'],
  ['bob reads pods of his namespace', asks('bob', 'list'), 'allow'],
  ['bob does not write them', asks('bob', 'delete'), 'no-opinion'],
  ['bob reads no other namespace', asks('bob', 'list', { namespace: 'bank' }), 'no-opinion'],
  ['bob reads no other group', asks('bob', 'list', { apiGroup: 'metrics.k8s.io' }), 'no-opinion'],
  ['a user and a group must both match', asks('eve', 'delete'), 'no-opinion'],
  ['a member of the group is that user', asks('eve', 'delete', {}, ['ops']), 'allow'],
  ['a policy without a subject matches no request', asks('mallory', 'get'), 'no-opinion'],
  ['a line without a version matches any namespace', asks('old', 'delete', { namespace: 'x' }), 'allow'],
  ['paths match with a star', pathAttributes(userInfo('p', ['probes']), 'get', '/healthz'), 'allow'],
  ['other paths do not', pathAttributes(userInfo('p', ['probes']), 'get', '/metrics'), 'no-opinion'],
  ['resources are not paths', asks('p', 'get', {}, ['probes']), 'no-opinion'],
])('%s', async (_claim, attributes, decision) => {
  expect((await abacAuthorizer(FILE).authorize(attributes)).decision).toBe(decision);
});

test.each([
  ['{"user": "secret-name"', 'line 1: is not valid JSON'],
  [`\n${policy({ user: 1 })}`, 'line 2: user must be a string'],
  ['{"apiVersion":"v1","kind":"Pod"}', 'line 1: must be a Policy of'],
])('%j is rejected without repeating it', (text, message) => {
  expect(() => abacAuthorizer(text)).toThrow(message);
  expect(() => abacAuthorizer(text)).not.toThrow('secret-name');
});
