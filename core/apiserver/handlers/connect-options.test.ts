import { expect, test } from 'vitest';
import { connectOptionsOf } from './connect-options.ts';

test.each([
  [
    'PodExecOptions',
    'stdin=true&stdout=1&tty=false&container=c&command=sh&command=-c',
    '',
    {
      stdin: true,
      stdout: true,
      container: 'c',
      command: ['sh', '-c'],
    },
  ],
  ['PodAttachOptions', 'stdout=true&command=ignored', '', { stdout: true }],
  ['PodPortForwardOptions', 'ports=80&ports=443', '', { ports: [80, 443] }],
  ['ServiceProxyOptions', 'any=thing', '/a/b', { path: '/a/b' }],
])('%s are read from the query', (kind, query, subpath, expected) => {
  expect(connectOptionsOf({ group: '', version: 'v1', kind }, new URLSearchParams(query), subpath)).toEqual({
    kind,
    apiVersion: 'v1',
    ...expected,
  });
});
