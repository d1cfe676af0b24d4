import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../core/base/log.ts';
import { manualClock } from '../../core/base/manual-clock.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { systemRandom } from '../../core/base/node/random.ts';
import { connect, loadKubeconfig, type OwnedClient } from '../../core/client/index.ts';
import {
  alternativeNames,
  issueLeaf,
  openAuthority,
  writeKubeconfig,
  type Credential,
  type LeafRequest,
} from '../../core/pki/index.ts';
import { launchChromium, visit, type Visit } from '../support/chromium.ts';
import { ControlPlane } from '../support/control-plane.ts';
import { startTestServing, type TestServing } from '../support/serving.ts';
import { until } from '../support/until.ts';
import { COMPLETION_PAUSE_MS, complete, contrastOfSelected, suggested, typeLines } from './editor-steps.ts';

const PAGES = fileURLToPath(new URL('../../dist/renderer', import.meta.url));
const CONTEXT = 'kubernetes-super-admin@test';

let browser: Browser;
let directory: string;
let plane: ControlPlane;
let kubeconfig: string;
let client: OwnedClient;
let serving: TestServing;
let open: Visit;

const make = (path: string, body: unknown): Promise<unknown> => client.json({ method: 'POST', path, body });
const configMap = (name: string, data: Record<string, string> = {}): Promise<unknown> =>
  make('/api/v1/namespaces/default/configmaps', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data,
  });

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'pilothouse-resources-'));
  [browser, plane] = await Promise.all([
    launchChromium(),
    ControlPlane.create({
      etcd: 'pilothouse',
      members: 1,
      apiServers: 1,
      octet: 9,
      directory: join(directory, 'plane'),
    }),
  ]);
  await plane.start();
  kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, plane.kubeconfig('super-admin'));
  client = connect(await loadKubeconfig(kubeconfig), {
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    userAgent: 'e2e',
  });
});
afterAll(async () => {
  client?.dispose();
  await plane?.stop();
  await browser?.close();
  rmSync(directory, { recursive: true, force: true });
});
beforeEach(async () => {
  serving = await startTestServing({ pagesDirectory: PAGES });
  await serving.host.clusters.open(kubeconfig);
  open = await visit(browser, serving.mintUrl());
  await open.page.getByRole('button', { name: `Use ${CONTEXT}` }).click();
});
afterEach(async () => {
  await open.close();
  await serving.close();
});

const go = (page: Page, path: string): Promise<unknown> =>
  page.goto(`https://127.0.0.1:${serving.port}/#${path}`);
const use = async (page: Page, path: string, name: string): Promise<void> => {
  await serving.host.clusters.open(path);
  await go(page, '/clusters');
  await page.getByRole('button', { name: `Use ${name}`, exact: true }).click();
  await go(page, '/');
};
const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
const unlock = async (page: Page): Promise<void> => {
  await page.getByRole('button', { name: 'Read-only' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Allow changes' }).click();
  await page.getByRole('button', { name: 'Changes allowed' }).waitFor();
};

test('a list is live: rows appear and disappear, and the content security policy blocks nothing', async () => {
  const { page, complaints } = open;
  await configMap('first');
  await go(page, '/config');
  await row(page, 'first').waitFor();
  await page.getByText(/Live, rv \d+/).waitFor();
  await configMap('second');
  await row(page, 'second').waitFor();
  await client.json({ method: 'DELETE', path: '/api/v1/namespaces/default/configmaps/second' });
  await row(page, 'second').waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
});

test('every kind of the server has a place in the navigation', async () => {
  const { page } = open;
  for (const [path, kind] of [
    ['/workloads', 'Deployments'],
    ['/network', 'Services'],
    ['/storage', 'PersistentVolumes'],
    ['/access', 'ClusterRoles'],
    ['/cluster', 'Namespaces'],
  ] as const) {
    await go(page, path);
    await page
      .getByRole('navigation', { name: 'Kinds' })
      .getByRole('link', { name: kind, exact: true })
      .waitFor();
  }
});

test('nothing is deleted while the cluster is read-only; afterwards only the named object is', async () => {
  const { page } = open;
  await configMap('doomed');
  await go(page, '/config?kind=configmaps&open=default/doomed');
  const remove = page.getByRole('complementary').getByRole('button', { name: 'Delete' });
  await remove.waitFor();
  expect(await remove.getAttribute('aria-disabled')).toBe('true');
  await unlock(page);
  await remove.click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox').fill('doomed');
  await dialog.getByRole('button', { name: 'Delete ConfigMap doomed' }).click();
  await page.getByText('Deleted. Showing its last known state.').waitFor();
  await row(page, 'doomed').waitFor({ state: 'detached' });
  await page.locator('.toast').getByRole('button', { name: 'Undo' }).click();
  await row(page, 'doomed').waitFor();
});

test('a host refuses a write to a read-only cluster, whatever the page asks', async () => {
  const list = await serving.host.clusters.list();
  const ask = serving.host.handlers['kube.request']!(
    { cluster: list.clusters[0]!.id, method: 'DELETE', path: '/api/v1/namespaces/default' },
    new AbortController().signal,
  );
  await expect(ask).rejects.toMatchObject({ reason: 'Forbidden' });
});

/** The text of the manifest that was opened last, as the page keeps it. */
const keptText = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const kept = Object.entries(localStorage).find(([key]) => key.startsWith('pilothouse.editor.text.'));
    return (JSON.parse(kept?.[1] ?? '{}') as { text?: string }).text ?? '';
  });
const openEmptyManifest = async (page: Page): Promise<void> => {
  await go(page, '/editor');
  await page.getByRole('button', { name: 'Empty manifest' }).click();
  await page.locator('.monaco-editor .view-lines').click();
};

test('every key reaches the editor: no shortcut of the page takes one', async () => {
  const { page } = open;
  await openEmptyManifest(page);
  // Letters that go to pages, the help, the filter and the palette.
  const typed = 'image: nginx go gc gw ?/:jkx';
  await page.keyboard.type(typed);
  await page.keyboard.press('Control+k');
  await page.keyboard.press('Escape');
  await until('the text', async () => (await keptText(page)).trim() === typed);
  expect([new URL(page.url()).hash, await page.getByRole('dialog').count()]).toEqual(['#/editor', 0]);
});

test('a Deployment and a Service are written from an empty text with completion, key by key, and applied', async () => {
  const { page, complaints } = open;
  await unlock(page);
  await openEmptyManifest(page);
  const { keyboard } = page;
  const type = (text: string): Promise<void> => keyboard.type(text);
  const lines = async (count: number, backspaces: number): Promise<void> => {
    for (let line = 0; line < count; line += 1) await keyboard.press('Enter');
    for (let step = 0; step < backspaces; step += 1) await keyboard.press('Backspace');
  };
  await complete(page, 'api', 'apiVersion');
  await complete(page, 'apps/v1', 'apps/v1');
  await lines(1, 0);
  await complete(page, 'ki', 'kind');
  // The kinds of this apiVersion, and no other.
  await until('the kinds', async () => {
    await page.keyboard.press('Control+Space');
    return (await suggested(page)).includes('StatefulSet');
  });
  expect(await suggested(page)).not.toContain('Service');
  expect(await contrastOfSelected(page)).toBeGreaterThan(4.5);
  await complete(page, 'Depl', 'Deployment');
  await lines(1, 0);
  await complete(page, 'meta', 'metadata');
  await complete(page, 'na', 'name');
  await type('typed');
  await lines(1, 1);
  await complete(page, 'sp', 'spec');
  await complete(page, 'sel', 'selector');
  await complete(page, 'matchL', 'matchLabels');
  await type('app: typed');
  await lines(1, 2);
  await complete(page, 'templ', 'template');
  await complete(page, 'meta', 'metadata');
  await complete(page, 'lab', 'labels');
  await type('app: typed');
  await lines(1, 2);
  await complete(page, 'sp', 'spec');
  await complete(page, 'conta', 'containers');
  await complete(page, 'na', 'name');
  await type('web');
  await lines(1, 0);
  await complete(page, 'ima', 'image');
  await type('nginx:1.27');
  await lines(1, 0);
  await complete(page, 'live', 'livenessProbe');
  await complete(page, 'httpG', 'httpGet');
  await complete(page, 'por', 'port');
  // A word that is finished: Enter begins the next line, whatever is suggested.
  await type('80');
  await keyboard.press('Enter');
  await keyboard.press('Home');
  await type('---');
  await lines(1, 0);
  await complete(page, 'api', 'apiVersion');
  await complete(page, 'v1', 'v1');
  await lines(1, 0);
  await complete(page, 'ki', 'kind');
  await type('Service');
  await lines(1, 0);
  await complete(page, 'meta', 'metadata');
  await complete(page, 'na', 'name');
  await type('typed');
  await lines(1, 1);
  await complete(page, 'sp', 'spec');
  await complete(page, 'sel', 'selector');
  await type('app: typed');
  await lines(1, 1);
  await complete(page, 'por', 'ports');
  await complete(page, 'por', 'port');
  await type('80');
  await keyboard.press('Enter');
  await complete(page, 'proto', 'protocol');
  await type('TCP');
  const written = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: typed
spec:
  selector:
    matchLabels:
      app: typed
  template:
    metadata:
      labels:
        app: typed
    spec:
      containers:
        - name: web
          image: nginx:1.27
          livenessProbe:
            httpGet:
              port: 80
---
apiVersion: v1
kind: Service
metadata:
  name: typed
spec:
  selector:
    app: typed
  ports:
    - port: 80
      protocol: TCP`;
  await keyboard.press('Escape');
  await until(
    'the text',
    async () => (await keptText(page)).replaceAll(/[ \t]+$/gm, '').trim() === written,
  ).catch(async () => expect(await keptText(page)).toBe(written));
  await keyboard.press('F5');
  await page.locator('button:not([aria-disabled="true"])', { hasText: 'Apply 2 documents' }).waitFor();
  await keyboard.press('Control+Enter');
  await page.getByText('2 documents applied').first().waitFor();
  const made = await client.json<{ spec: { template: { spec: { containers: { image: string }[] } } } }>({
    method: 'GET',
    path: '/apis/apps/v1/namespaces/default/deployments/typed',
  });
  expect([made.spec.template.spec.containers[0]?.image, complaints]).toEqual(['nginx:1.27', []]);
});

test('a manifest is completed, tried, compared and applied', async () => {
  const { page, complaints } = open;
  await go(page, '/editor');
  await page.getByRole('button', { name: 'Start from a sample' }).click();
  await page.locator('.view-line').filter({ hasText: 'replicas' }).click();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  await page.keyboard.type('minR');
  // The schemas are on their way from the server while one types: it is asked again until they are there.
  const suggestion = page.locator('.suggest-widget').getByText('minReadySeconds');
  await until('the suggestion', async () => {
    if (await suggestion.isVisible()) return true;
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Space');
    return suggestion.waitFor({ timeout: COMPLETION_PAUSE_MS }).then(() => true);
  });
  await page.keyboard.press('Tab');
  await page.keyboard.type('5');
  await page.keyboard.press('F5');
  await page.getByRole('cell', { name: '5', exact: true }).waitFor();
  const apply = page.getByRole('button', { name: 'Apply 2 documents' });
  expect(await apply.getAttribute('aria-disabled')).toBe('true');
  await unlock(page);
  await apply.click();
  await page.getByText('2 documents applied').first().waitFor();
  const made = await client.json<{ spec: { minReadySeconds: number } }>({
    method: 'GET',
    path: '/apis/apps/v1/namespaces/default/deployments/hello',
  });
  expect([made.spec.minReadySeconds, complaints]).toEqual([5, []]);
});

test('a field of another manager is a conflict, shown with field and manager, until ownership is taken', async () => {
  const { page } = open;
  const path = '/api/v1/namespaces/default/configmaps/shared';
  await client.text({
    method: 'PATCH',
    path,
    query: { fieldManager: 'pipeline' },
    contentType: 'application/apply-patch+yaml',
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shared' }, data: { level: 'info' } },
  });
  await go(page, '/editor');
  await page.getByRole('button', { name: 'Empty manifest' }).click();
  await page.locator('.monaco-editor .view-lines').click();
  await typeLines(page, [
    'apiVersion: v1',
    'kind: ConfigMap',
    'metadata:',
    '  name: shared',
    'data:',
    '  level: debug',
  ]);
  await page.keyboard.press('F5');
  await page.getByText('owned by pipeline').waitFor();
  await page.getByText('data.level', { exact: true }).waitFor();
  // Both values, each with who set it.
  const conflicts = page.getByRole('group', { name: /conflict/ });
  await conflicts.getByText('info', { exact: true }).waitFor();
  await conflicts.getByText('debug', { exact: true }).waitFor();
  await page.getByRole('radio', { name: /Take ownership/ }).click();
  await page.getByRole('cell', { name: 'debug', exact: true }).waitFor();
  await page.getByText('Will take ownership of 1 field from pipeline').first().waitFor();
  await unlock(page);
  await page.locator('.monaco-editor .view-lines').click();
  await page.keyboard.press('Control+Enter');
  await page.getByText('Took ownership of 1 field from pipeline').first().waitFor();
  const level = async (): Promise<string | undefined> =>
    (await client.json<{ data?: { level?: string } }>({ method: 'GET', path })).data?.level;
  expect(await level()).toBe('debug');
  await page.keyboard.press('F9');
  await until('the value of the pipeline', async () => (await level()) === 'info');
  await page.getByText('1 change undone').first().waitFor();
});

test('an error of the server is shown at its field, and a result links to its object', async () => {
  const { page } = open;
  await unlock(page);
  await openEmptyManifest(page);
  await typeLines(page, [
    'apiVersion: v1',
    'kind: ConfigMap',
    'metadata:',
    '  name: Not_Valid',
    'data:',
    '  a: b',
  ]);
  await page.keyboard.press('F5');
  await page.getByRole('alert').getByText('metadata.name').waitFor();
  // The marker is under the name, not at the top of the document.
  const squiggle = page.locator('.squiggly-error').first();
  const line = page.locator('.view-line').filter({ hasText: 'Not_Valid' });
  await until('the marker in its line', async () => {
    const [mark, text] = [await squiggle.boundingBox(), await line.boundingBox()];
    return mark && text && Math.abs(mark.y - text.y) < text.height;
  });
  // Problems are counted for the text in view.
  const problems = page.getByText('1 problem', { exact: true });
  await problems.waitFor();
  await page.getByRole('button', { name: 'New manifest' }).click();
  await page.getByRole('menuitem', { name: 'Deployment and Service' }).click();
  await problems.waitFor({ state: 'detached' });
  await page.getByRole('list', { name: 'Open manifests' }).getByRole('button').first().click();
  await line.click();
  await page.keyboard.press('End');
  for (let count = 0; count < 'Not_Valid'.length; count += 1) await page.keyboard.press('Backspace');
  await page.keyboard.type('linked');
  await page.keyboard.press('F5');
  await page.getByText('Will be created').waitFor();
  await page.keyboard.press('Control+Enter');
  await page.getByRole('link', { name: 'Open ConfigMap linked' }).click();
  await page.getByRole('complementary', { name: 'ConfigMap linked' }).waitFor();
});

test('typed text survives the loss of the page', async () => {
  const { page } = open;
  await go(page, '/editor');
  await page.getByRole('button', { name: 'Empty manifest' }).click();
  await page.locator('.monaco-editor .view-lines').click();
  await page.keyboard.type('kind: Kept');
  await page.waitForFunction(() => Object.values(localStorage).some((kept) => String(kept).includes('Kept')));
  await page.goto('about:blank');
  await go(page, '/editor');
  await page.locator('.view-line').filter({ hasText: 'Kept' }).waitFor();
});

test('a program that a kubeconfig runs is shown and allowed before it gets credentials, and again when it changes', async () => {
  const { page } = open;
  const path = join(directory, 'plugin.conf');
  const pki = (file: string): string =>
    JSON.stringify(readFileSync(join(directory, 'plane/pki', file), 'utf8'));
  const answer = join(directory, 'credential.json');
  const [, certificate = ''] = /client-certificate-data: (.*)/.exec(plane.kubeconfig('super-admin')) ?? [];
  const [, key = ''] = /client-key-data: (.*)/.exec(plane.kubeconfig('super-admin')) ?? [];
  const pem = (base64: string): string => JSON.stringify(Buffer.from(base64, 'base64').toString());
  writeFileSync(
    answer,
    `{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"clientCertificateData":${pem(certificate)},"clientKeyData":${pem(key)}}}`,
  );
  const config = (more: string): string => `
clusters:
- {name: c, cluster: {server: "${plane.apiServers[0]!.url}", certificate-authority-data: ${Buffer.from(JSON.parse(pki('ca.crt')) as string).toString('base64')}}}
contexts: [{name: clever, context: {cluster: c, user: u}}]
users:
- name: u
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: /bin/cat
      args: ["${answer}"]
      env: [{name: REGION, value: ${more}}]
`;
  writeFileSync(path, config('north'));
  await use(page, path, 'clever');
  for (const shown of ['/bin/cat', answer, 'REGION=north', path])
    await page.getByRole('main').getByText(shown, { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Allow this program' }).click();
  await go(page, '/config');
  await page.getByText(/Live, rv \d+/).waitFor();
  // Another variable is another command line.
  writeFileSync(path, config('south'));
  await page.getByRole('main').getByText('REGION=south', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Allow this program' }).click();
  await page.getByText(/Live, rv \d+/).waitFor();
});

/** With a certificate of the cluster's own authority that ended half a minute ago. */
const expiredCredential = (
  request: Pick<LeafRequest, 'subject' | 'usages' | 'alternativeNames'>,
): Credential => {
  const pki = (file: string): string => readFileSync(join(directory, 'plane/pki', file), 'utf8');
  const authority = openAuthority({ certificatePem: pki('ca.crt'), privateKeyPem: pki('ca.key') });
  const aMinuteAgo = manualClock(Date.now() - 60_000);
  return issueLeaf(authority, { ...request, clock: aMinuteAgo, validityMs: 30_000 });
};

test('an expired certificate and a refused token are reported with what to do; a renewed kubeconfig continues, texts stay', async () => {
  const { page } = open;
  await go(page, '/editor');
  await page.getByRole('button', { name: 'Empty manifest' }).click();
  await page.locator('.monaco-editor .view-lines').click();
  await page.keyboard.type('kind: Kept');
  await page.locator('.view-line').filter({ hasText: 'Kept' }).waitFor();

  const old = join(directory, 'old.conf');
  const credential = expiredCredential({
    subject: { commonName: 'dev', organizations: ['system:masters'] },
    usages: ['client'],
  });
  const authorityPem = readFileSync(join(directory, 'plane/pki/ca.crt'), 'utf8');
  const server = plane.apiServers[0]!.url;
  writeFileSync(
    old,
    writeKubeconfig({ clusterName: 'old', server, authorityPem, userName: 'dev', credential }),
  );
  await use(page, old, 'dev@old');
  await page.getByText('dev@old rejected your credentials').first().waitFor();
  await page
    .getByText(/The client certificate of dev in .* expired on .*; get a new kubeconfig/)
    .first()
    .waitFor();
  await go(page, '/editor');
  await page.getByText('dev@old rejected your credentials').first().waitFor();
  await page.locator('.view-line').filter({ hasText: 'Kept' }).waitFor();
  await go(page, '/config');
  await page.getByRole('heading', { name: 'dev@old rejected your credentials' }).waitFor();
  // Anyone who runs the cluster sends another file: it takes the place of the one before, and nothing is clicked.
  const renewed = plane.kubeconfig('super-admin').replaceAll(CONTEXT, 'dev@old');
  writeFileSync(old, renewed);
  await page.getByText(/Live, rv \d+/).waitFor();

  const refused = join(directory, 'refused.conf');
  const withToken = plane
    .kubeconfig('super-admin')
    .replace(/client-certificate-data: .*\n/, 'token: stale\n')
    .replace(/ *client-key-data: .*\n/, '')
    .replaceAll(CONTEXT, 'by-token');
  writeFileSync(refused, withToken);
  await use(page, refused, 'by-token');
  await page.getByText('by-token rejected your credentials').first().waitFor();
  await page
    .getByText(/rejected the credentials of this kubeconfig .*; sign in again/)
    .first()
    .waitFor();
  await go(page, '/editor');
  await page.locator('.view-line').filter({ hasText: 'Kept' }).waitFor();
});

// The last one: it changes what the server presents, and only those who are connected already do not see it.
test('an API server whose certificate has expired is reported, with how to renew it', async () => {
  const { page } = open;
  const { certificatePem, privateKeyPem } = expiredCredential({
    subject: { commonName: 'kube-apiserver' },
    usages: ['server'],
    alternativeNames: alternativeNames([new URL(plane.apiServers[0]!.url).hostname]),
  });
  const file = (name: string): string => join(directory, 'plane/pki/hosts/m1', name);
  writeFileSync(file('apiserver.key'), privateKeyPem);
  writeFileSync(file('apiserver.crt'), certificatePem);
  const probe = async (): Promise<boolean> => {
    const fresh = connect(await loadKubeconfig(kubeconfig), {
      clock: systemClock,
      random: systemRandom,
      log: silentLog,
      userAgent: 'e2e',
    });
    try {
      await fresh.json({ method: 'GET', path: '/version' });
      return false;
    } catch {
      return true;
    } finally {
      fresh.dispose();
    }
  };
  await until('the server to present it', probe);
  const later = join(directory, 'later.conf');
  writeFileSync(later, plane.kubeconfig('super-admin').replaceAll(CONTEXT, 'expired-server'));
  await use(page, later, 'expired-server');
  await page.getByText('expired-server is not responding').first().waitFor();
  // No indicator says that it is live.
  const status = page.getByRole('contentinfo', { name: 'Status' });
  await status.getByText('expired-server is unreachable').waitFor();
  await page.getByRole('button', { name: 'Cluster: expired-server' }).getByText('Unreachable').waitFor();
  expect(await status.getByText('Live', { exact: true }).count()).toBe(0);
  await page
    .getByText(/certificate of the API server, .* has expired; renew it/)
    .first()
    .waitFor();
  await go(page, '/config');
  await page
    .getByText(/certificate of the API server, .* has expired; renew it/)
    .first()
    .waitFor();
});
