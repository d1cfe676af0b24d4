import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { upOf, type RunningCluster } from '../support/cluster.ts';
import { kubernetesClient } from '../support/kubectl.ts';
import { ownFolder } from '../support/own-folder.ts';

const ROOT = process.cwd();
const folder = ownFolder('pilothouse-npm-');
const installed = join(folder, 'node_modules/pilothouse');
const data = join(folder, 'clusters/desk');
let running: RunningCluster | undefined;

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly dependencies?: object }>>;
}

/** The packed tarball where `npm install` would put it; its dependencies are those of the lock file, without a network. */
beforeAll(() => {
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], { cwd: ROOT });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', join(folder, tarball), '-C', installed, '--strip-components=1']);
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
  const installs = new Set(readdirSync(join(ROOT, 'node_modules')));
  for (const [path, { dev }] of Object.entries(lock.packages)) {
    const name = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1];
    if (name === undefined || dev === true || !installs.has(name.split('/')[0]!)) continue;
    mkdirSync(join(folder, 'node_modules', name, '..'), { recursive: true });
    symlinkSync(join(ROOT, path), join(folder, 'node_modules', name));
  }
});
afterAll(async () => {
  await running?.end('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

test('the npm package holds the build and no sources, and depends on nothing but lmdb', () => {
  const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
    dependencies: object;
    bin: { pilothouse: string };
    scripts: Record<string, string>;
  };
  const files = readdirSync(installed, { recursive: true }) as string[];
  expect({
    dependencies: Object.keys(manifest.dependencies),
    installScripts: Object.keys(manifest.scripts).filter((name) => /install$/.test(name)),
    stray: files.filter((file) =>
      /\.(ts|vue|map)$|^(core|main|renderer|test)\/|code-cache|electron/.test(file),
    ),
  }).toEqual({ dependencies: ['lmdb'], installScripts: [], stray: [] });
});

test('`pilothouse up` of the npm package runs a cluster without Electron and without a build', async () => {
  const program = join(installed, 'resources/bin/pilothouse.mjs');
  running = await upOf(program, '--data', data, '--control-planes', '1', '--workers', '1');
  const kubeconfig = readFileSync(join(data, 'kubeconfig/admin.conf'), 'utf8');
  const client = await kubernetesClient(36, kubeconfig);
  if (client) {
    expect(await client.ok('get', 'nodes', '-o', 'name')).toContain('node/worker-1');
    await client.close();
  }
  expect((await running.end('SIGTERM')).code).toBe(0);
  running = undefined;
});
