import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findKubeconfigs, usualPlaces } from './usual-kubeconfigs.ts';

const kubeconfig = (context: string): string => `
clusters: [{ name: c, cluster: { server: "https://127.0.0.1:1" } }]
contexts: [{ name: ${context}, context: { cluster: c, user: u } }]
users: [{ name: u, user: { exec: { apiVersion: client.authentication.k8s.io/v1, command: touch } } }]
`;

const home = (): string => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-home-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, '.kube/cache'), { recursive: true });
  return directory;
};

test('KUBECONFIG comes first, then ~/.kube without its caches, then what installers write', async () => {
  const directory = home();
  for (const name of ['config', 'prod.yaml', 'kubectx', 'cache/config'])
    writeFileSync(join(directory, '.kube', name), '');
  const env = { KUBECONFIG: `/somewhere/a:relative:${join(directory, '.kube/prod.yaml')}` };
  const places = await usualPlaces({ env, home: directory });
  expect(places.slice(0, 3)).toEqual([
    '/somewhere/a',
    join(directory, '.kube/prod.yaml'),
    join(directory, '.kube/config'),
  ]);
  expect(places).toContain('/etc/kubernetes/admin.conf');
  expect(places).not.toContain(join(directory, '.kube/kubectx'));
});

test('files with a context are offered with their names; open, empty and damaged ones are not', async () => {
  const directory = home();
  const file = (name: string): string => join(directory, '.kube', name);
  writeFileSync(file('config'), kubeconfig('prod'));
  writeFileSync(file('open.yaml'), kubeconfig('known'));
  writeFileSync(file('empty.yaml'), 'clusters: []');
  writeFileSync(file('broken.yaml'), '{');
  const found = await findKubeconfigs(
    { env: {}, home: directory },
    {
      isKnown: (path) => path === file('open.yaml'),
      pluginOf: () => ({ command: 'touch', args: [], env: [], fingerprint: '', isAllowed: false }),
    },
  );
  const own = found.filter(({ path }) => path.startsWith(directory));
  expect(own).toEqual([
    { path: file('config'), contexts: [{ name: 'prod', server: 'https://127.0.0.1:1' }] },
  ]);
});
