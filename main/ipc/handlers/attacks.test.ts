import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../../core/base/log.ts';
import { manualClock } from '../../../core/base/manual-clock.ts';
import { fakeHost } from '../../../core/contract/fake.ts';
import type { ContractError } from '../../../core/contract/index.ts';
import { createHandlers, type HandlerDependencies, type HandlerSet } from './create-handlers.ts';

/** What a page that was taken over may try through the contract, and what a kubeconfig from a stranger may try. */
let directory: string;
let opened: HandlerSet[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'pilothouse-attacks-'));
  opened = [];
});
afterEach(() => {
  for (const set of opened) set.dispose();
  rmSync(directory, { recursive: true, force: true });
});

const start = (overrides: Partial<HandlerDependencies> = {}) => {
  const set = createHandlers({
    dataDirectory: join(directory, 'data'),
    clock: manualClock(),
    log: silentLog,
    version: '1.2.3',
    shell: 'browser',
    processes: () => [],
    openLoopProbe: () => ({ takeWorstMs: () => 0, dispose() {} }),
    ...overrides,
  });
  opened.push(set);
  return fakeHost(set.handlers).client;
};
const failure = (work: Promise<unknown>): Promise<ContractError> =>
  work.then(
    () => Promise.reject(new Error('the attack succeeded')),
    (error: unknown) => error as ContractError,
  );

const SECRET = 'root:x:0:0:hunter2:/root:/bin/bash\ndaemon:x:1:1:hunter2:/usr/sbin:/usr/sbin/nologin\n';

test.each([
  SECRET,
  'hunter2',
  '"hunter2',
  '{"token": hunter2}',
  'a: *hunter2',
  'hunter2:\n\thunter2: 1',
  'clusters: hunter2',
  'kind: hunter2',
])('the content of a file opened as a kubeconfig is never revealed: %j', async (content) => {
  const path = join(directory, 'shadow');
  writeFileSync(path, content);
  const client = start();
  const list = await client.call('clusters.openKubeconfig', { path });
  expect(list.clusters).toEqual([]);
  expect(list.problems).toHaveLength(1);
  expect(JSON.stringify(list)).not.toMatch(/hunter2|daemon|bash/);
});

test('settings and the memory of the console are reported as damaged without their content', async () => {
  mkdirSync(join(directory, 'data'));
  for (const file of ['settings.json', 'console.json', 'exec-plugins.json'])
    writeFileSync(join(directory, 'data', file), '{"token": hunter2}');
  const client = start();
  const notices: unknown[] = [];
  client.open('notifications.watch', undefined, {
    onBatch: (items) => notices.push(...items),
    onEnd: () => undefined,
  });
  await expect.poll(() => notices).toHaveLength(3);
  expect(JSON.stringify(notices)).toContain('line 1, column 11');
  expect(JSON.stringify(notices)).not.toContain('hunter2');
});

test.runIf(process.platform !== 'win32')('a pipe or a device is not opened', async () => {
  const client = start();
  for (const path of ['/dev/zero', '/dev/stdin', directory])
    expect(await failure(client.call('clusters.openKubeconfig', { path }))).toMatchObject({
      reason: 'BadRequest',
    });
});

test('the desktop app opens only what the person chose in its dialog, and that again after it was forgotten', async () => {
  const chosen = join(directory, 'chosen.conf');
  const other = join(directory, 'other.conf');
  for (const path of [chosen, other])
    writeFileSync(
      path,
      'clusters: [{name: c, cluster: {server: "https://a"}}]\ncontexts: [{name: a, context: {cluster: c}}]\n',
    );
  const client = start({ shell: 'desktop', chooseKubeconfig: () => Promise.resolve(chosen) });
  expect(await failure(client.call('clusters.openKubeconfig', { path: other }))).toMatchObject({
    reason: 'Forbidden',
  });
  expect(await failure(client.call('clusters.openKubeconfig', { path: chosen }))).toMatchObject({
    reason: 'Forbidden',
  });
  const list = await client.call('clusters.openKubeconfig', {});
  expect(list.clusters.map(({ kubeconfigPath }) => kubeconfigPath)).toEqual([chosen]);
  await client.call('clusters.forget', { id: list.clusters[0]!.id });
  expect((await client.call('clusters.openKubeconfig', { path: chosen })).clusters).toHaveLength(1);
});

test('the desktop app takes no typed path of a snapshot', async () => {
  const client = start({ shell: 'desktop', chooseSnapshot: () => Promise.resolve('/backups/a.db') });
  expect(await failure(client.call('backups.choose', { path: '/etc/shadow' }))).toMatchObject({
    reason: 'Forbidden',
  });
  expect(await client.call('backups.choose', {})).toEqual({ file: '/backups/a.db' });
});

const pluginConfig = (args: string, token = 'x'): string => `
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: clever, context: {cluster: c, user: u}}]
users:
- name: u
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: /bin/sh
      args: ["-c", "${args}"]
      env: [{name: TOKEN, value: ${token}}]
`;

test.runIf(process.platform !== 'win32')(
  'no program of a kubeconfig runs before a person agreed to its exact command line',
  async () => {
    const proof = join(directory, 'proof');
    const path = join(directory, 'plugin.conf');
    writeFileSync(path, pluginConfig(`touch ${proof}; exit 1`));
    const client = start();
    const [entry] = (await client.call('clusters.openKubeconfig', { path })).clusters;
    const cluster = entry!.id;
    expect(entry).toMatchObject({
      readOnly: true,
      plugin: {
        command: '/bin/sh',
        args: ['-c', `touch ${proof}; exit 1`],
        env: [{ name: 'TOKEN', value: 'x' }],
        isAllowed: false,
      },
    });
    const attempts = [
      client.call('kube.discovery', { cluster, isFresh: true }),
      client.call('kube.request', { cluster, method: 'GET', path: '/version' }),
      client.call('kube.openapi', { cluster, path: 'api/v1' }),
    ];
    // Together: one that is rejected while another is awaited would count as unhandled.
    for (const refused of await Promise.all(attempts.map(failure)))
      expect(refused).toMatchObject({ reason: 'ConsentRequired' });
    expect(existsSync(proof)).toBe(false);

    // Consent to what was shown is none to what stands there now.
    writeFileSync(path, pluginConfig(`touch ${proof}; exit 2`));
    const { fingerprint } = entry!.plugin!;
    const stale = client.call('clusters.allowPlugin', { id: cluster, fingerprint });
    expect(await failure(stale)).toMatchObject({ reason: 'Conflict' });

    const [shown] = (await client.call('clusters.list', undefined)).clusters;
    const allowed = await client.call('clusters.allowPlugin', {
      id: cluster,
      fingerprint: shown!.plugin!.fingerprint,
    });
    expect(allowed.clusters[0]?.plugin?.isAllowed).toBe(true);
    await failure(client.call('kube.request', { cluster, method: 'GET', path: '/version' }));
    expect(existsSync(proof)).toBe(true);
    rmSync(proof);

    // Remembered by the next start, for this command line and no other: not even for another variable.
    const next = start();
    await failure(next.call('kube.request', { cluster, method: 'GET', path: '/version' }));
    expect(existsSync(proof)).toBe(true);
    rmSync(proof);
    writeFileSync(path, pluginConfig(`touch ${proof}; exit 2`, 'y'));
    const changed = next.call('kube.request', { cluster, method: 'GET', path: '/version' });
    expect(await failure(changed)).toMatchObject({ reason: 'ConsentRequired' });
    expect(existsSync(proof)).toBe(false);
  },
);
