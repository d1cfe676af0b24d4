import { expect, test } from 'vitest';
import type { ExecConfig } from '../../../core/client/index.ts';
import { type ExecPlugin, inEnglish } from '../../../core/contract/index.ts';
import { contextsOf } from './kubeconfig.ts';

const PATH = '/home/a/.kube/config';
const allowedPlugin = (exec: ExecConfig): ExecPlugin => ({
  command: exec.command,
  args: [...exec.args],
  env: [],
  fingerprint: 'f',
  isAllowed: true,
});

test('each context becomes an entry that starts read-only', () => {
  const text = `
apiVersion: v1
kind: Config
clusters:
- {name: prod, cluster: {server: "https://10.0.0.1:6443", certificate-authority-data: AAAA}}
contexts:
- {name: admin@prod, context: {cluster: prod, user: admin}}
- {name: dev@prod, context: {cluster: prod, user: dev, namespace: team}}
users: []
current-context: admin@prod
`;
  const entry = {
    origin: 'kubeconfig',
    server: 'https://10.0.0.1:6443',
    kubeconfigPath: PATH,
    readOnly: true,
    local: null,
  };
  expect(contextsOf(PATH, text, allowedPlugin)).toEqual({
    clusters: [
      { ...entry, id: `${PATH}#admin@prod`, name: 'admin@prod', user: 'admin', namespace: 'default' },
      { ...entry, id: `${PATH}#dev@prod`, name: 'dev@prod', user: 'dev', namespace: 'team' },
    ],
    problems: [],
  });
});

test('a context without its cluster is a problem and does not hide the others', () => {
  const text = `
clusters:
- {name: a, cluster: {server: "https://a"}}
contexts:
- {name: broken, context: {cluster: gone}}
- {name: fine, context: {cluster: a}}
`;
  const { clusters, problems } = contextsOf(PATH, text, allowedPlugin);
  expect(clusters.map(({ name }) => name)).toEqual(['fine']);
  expect(problems.map(inEnglish)).toEqual([
    'context "broken" refers to cluster "gone", which is not defined',
  ]);
});

test.each([
  ['no YAML', 'a: [', /^it is not valid YAML: /],
  ['another kind', 'kind: Pod', /^it is not a kubeconfig: /],
  ['a text', 'hello', /^it is not a kubeconfig: /],
  ['empty', '', /^it is not a kubeconfig: /],
  ['without contexts', 'clusters:\ncontexts:\n', /^it has no contexts$/],
  [
    'an expanding one',
    `a: &a [${'x,'.repeat(50)}]\nb: &b [${'*a,'.repeat(50)}]\ncontexts: [${'*b,'.repeat(50)}]`,
    /alias/i,
  ],
])('a file that is %s is reported in one line', (_what, text, message) => {
  const { clusters, problems } = contextsOf(PATH, text, allowedPlugin);
  expect(clusters).toEqual([]);
  expect(problems).toHaveLength(1);
  expect(inEnglish(problems[0]!)).toMatch(message);
  expect(inEnglish(problems[0]!)).not.toContain('\n');
});

test('a context whose user runs a program says which; a relative command starts at the folder of the file', () => {
  const text = `
clusters: [{name: a, cluster: {server: "https://a"}}]
users:
- {name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./get-token, args: [--region, eu]}}}
contexts: [{name: plain, context: {cluster: a}}, {name: clever, context: {cluster: a, user: u}}]
`;
  const { clusters } = contextsOf(PATH, text, allowedPlugin);
  expect(clusters.map(({ name, plugin }) => [name, plugin?.command, plugin?.args])).toEqual([
    ['plain', undefined, undefined],
    ['clever', '/home/a/.kube/get-token', ['--region', 'eu']],
  ]);
});

test.each([
  'root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n',
  'hunter2',
  '"hunter2',
])('a file that is no kubeconfig is reported without its content: %j', (text) => {
  const { problems } = contextsOf(PATH, text, allowedPlugin);
  expect(problems).toHaveLength(1);
  expect(inEnglish(problems[0]!)).not.toMatch(/root|daemon|bin|hunter2/);
});
