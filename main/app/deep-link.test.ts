import { expect, test } from 'vitest';
import { pathOfDeepLink } from './deep-link.ts';

test.each([
  ['pilothouse://raft', '/raft'],
  ['pilothouse://raft/members/', '/raft/members'],
  ['pilothouse:///overview', '/overview'],
  ['pilothouse:overview', '/overview'],
  ['pilothouse://', '/'],
  ['pilothouse://raft/%2e%2e/../members', '/raft/members'],
  ['pilothouse://pods?namespace=kube-system&sort=age', '/pods?namespace=kube-system&sort=age'],
])('%s opens %s', (link, path) => {
  expect(pathOfDeepLink(link)).toBe(path);
});

test.each([
  'https://example.com/raft',
  'pilothouse://user:secret@raft',
  'pilothouse://raft:8080/',
  'pilothouse://raft/..%2f..%2fsecret',
  'pilothouse://raft/%3Cscript%3E',
  'pilothouse://raft/<script>alert(1)</script>',
  'pilothouse://raft?x=(alert)',
  `pilothouse://${'a'.repeat(2000)}`,
  'pilothouse',
  '',
])('%s opens nothing', (link) => {
  expect(pathOfDeepLink(link)).toBeUndefined();
});
