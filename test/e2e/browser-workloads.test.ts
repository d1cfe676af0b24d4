import { readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { accessibilityProblems, COLOUR_RULES } from '../../resources/setup/accessibility.mjs';
import { inEnglish } from '../../core/contract/index.ts';
import { launchChromium, visit, type Visit } from '../support/chromium.ts';
import { actAndWait, contractOf, untilPhase, type PageContract } from '../support/page-contract.ts';
import { OIDC_CLIENT, startOidcServer } from '../support/oidc-server.ts';
import { startTestServing, type TestServing } from '../support/serving.ts';
import { until } from '../support/until.ts';
import {
  DEPLOYMENT_PATH,
  evictAndUndo,
  explainSelector,
  findFailingController,
  typeInto,
  type Workbench,
} from './application-steps.ts';

const DIST = process.env['PILOTHOUSE_DIST'] ?? fileURLToPath(new URL('../../dist', import.meta.url));
const HOST_PROGRAM = new URL(`file://${DIST}/host/host.js`);
const GOOD_IMAGE = 'registry.k8s.io/web:1';
const BROKEN_IMAGE = 'registry.k8s.io/web:missing';
/** A second or two each on a machine at rest. */
const AXE_LIMIT_MS = 180_000;
/** One of each notation. */
const LOG_LINES = [
  'INFO the harbour is open',
  '{"level":"error","msg":"the crane is stuck","crane":"north-3"}',
  'W0912 10:04:12.123456       1 pier.go:12] "Tide is falling" pier="seven"',
];

let browser: Browser;
let serving: TestServing;
let visited: Visit;
let page: Page;
let contract: PageContract;
let cluster: string;

beforeAll(async () => {
  browser = await launchChromium();
  serving = await startTestServing({ pagesDirectory: `${DIST}/renderer`, hostProgram: HOST_PROGRAM });
  visited = await visit(browser, serving.mintUrl());
  page = visited.page;
  await page.setViewportSize({ width: 1440, height: 900 });
  contract = await contractOf(page);
  const { wishes } = await contract.call('clusters.defaults', undefined);
  const made = { ...wishes, name: 'harbour', controlPlanes: 1, workers: 1, purpose: 'drills' as const };
  ({ cluster } = await contract.call('clusters.create', made));
  await untilPhase(await contract.follow('cluster.state', { cluster }), 'ready');
  await go('/workloads');
  await page.getByRole('button', { name: 'Use harbour' }).click();
});
afterAll(async () => {
  await visited?.close();
  await serving?.close();
  await browser?.close();
});

const go = async (path: string): Promise<void> => {
  await page.goto(`https://127.0.0.1:${serving.port}/#${path}`);
};
const drawer = (): Locator => page.getByRole('complementary');
const deploymentTab = (tab: string): string => `/workloads?kind=deployments.apps&open=default/web&tab=${tab}`;
const podTab = (pod: string, tab: string): string => `/workloads?kind=pods&open=default/${pod}&tab=${tab}`;

const request = async (
  method: 'GET' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<unknown> => {
  const answer = await contract.call('kube.request', {
    cluster,
    method,
    path,
    ...(body !== undefined && { body, contentType: 'application/strategic-merge-patch+json' as const }),
  });
  if (!answer.ok) throw new Error(answer.refusal.message);
  return answer.body;
};
const runningPod = async (): Promise<string> =>
  until('a running pod', async () => {
    const { items } = (await request('GET', '/api/v1/namespaces/default/pods')) as {
      items: { metadata: { name: string; deletionTimestamp?: string }; status: { phase: string } }[];
    };
    return items.find(({ metadata, status }) => status.phase === 'Running' && !metadata.deletionTimestamp)
      ?.metadata.name;
  });
const ask = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    get(url, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve(text));
    }).on('error', reject);
  });

const apply = (object: Record<string, unknown>): Promise<unknown> =>
  contract.call('kube.apply', {
    cluster,
    dryRun: false,
    force: false,
    fieldManager: 'e2e',
    defaultNamespace: 'default',
    object,
  });
const part = (title: string): Locator => drawer().getByRole('region', { name: title, exact: true });
const workbench = (): Workbench => ({ page, go, drawer, part, apply, request, runningPod });

/** From the workload to its pod, from there to the node, and from the service to its endpoints: all by clicking. */
const readDetails = async (): Promise<void> => {
  await go(deploymentTab('summary'));
  await part('Replicas and placement').getByText('2 of 2 ready').waitFor();
  await drawer().getByRole('link', { name: /^web-/ }).first().click();
  await part('Container web').getByRole('row', { name: 'cpu 20m' }).waitFor();
  await part('Container web')
    .getByRole('row', { name: 'Readiness HTTP GET :8080/' })
    .getByText('Passing')
    .waitFor();
  await part('Container web').getByRole('row', { name: 'NODE spec.nodeName Pod field' }).waitFor();
  await part('Container web')
    .getByRole('row', { name: /^\/etc\/chart/ })
    .getByText('read-only')
    .waitFor();
  await part('Container web').getByRole('link', { name: 'ConfigMap harbour' }).first().click();
  await drawer().getByRole('heading', { name: 'harbour', exact: true }).waitFor();

  await go('/network?kind=services&open=default/web');
  await part('Service').getByText('app=web').waitFor();
  await part('Service').getByRole('row', { name: 'http 80/TCP 8080' }).waitFor();
  await part('Endpoints').getByText('2 of 2 ready').waitFor();
  await go('/network?kind=services&open=default/web&tab=ports');
  await drawer()
    .getByText(/^Forwarded to pod web-/)
    .waitFor();
  await drawer()
    .getByText(/port-forward service\/web :80$/)
    .waitFor();
  await go('/network?kind=services&open=default/web');
  await part('Endpoints').getByRole('link', { name: /^web-/ }).first().click();
  await part('Placement').getByRole('link', { name: 'worker-1' }).click();
  await part('Capacity and allocation')
    .getByRole('row', { name: /^cpu \d.* \d+m, \d/ })
    .waitFor();
  await part('Taints').waitFor();
  await drawer().getByText('KubeletReady').first().waitFor();

  await go('/access?kind=clusterrolebindings.rbac.authorization.k8s.io&open=/cluster-admin');
  await part('Role and subjects').getByRole('row', { name: 'Group system:masters' }).waitFor();
  await part('Role and subjects').getByRole('link', { name: 'ClusterRole cluster-admin' }).click();
  await part('2 rules').getByRole('row').nth(2).waitFor();
};

/** Lines of both pods: what they mean, what they carry, where a word stands among them, and a file of all. */
const readLogs = async (): Promise<void> => {
  await go(deploymentTab('logs'));
  await drawer().getByText('INFO the harbour is open').first().waitFor();
  await drawer().getByText('2 pods, 6 lines').waitFor();
  const log = drawer().getByRole('log');
  const crane = log.locator('.line.error').first();
  expect(await crane.locator('.text').textContent()).toBe('the crane is stuck');
  await crane.getByRole('button', { name: 'Fields' }).click();
  await crane.getByText('north-3').waitFor();
  expect(await log.locator('.line.warn .text').first().textContent()).toBe('Tide is falling');

  // By keyboard: nothing is hidden by a search, its hits are counted and visited.
  await drawer().getByRole('textbox', { name: 'Search logs' }).click();
  await page.keyboard.type('tide');
  await drawer().getByText('2 matches').waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await drawer().getByText('2 of 2').waitFor();
  expect(await log.locator('.line').count()).toBe(6);
  await drawer().getByRole('checkbox', { name: 'Matching lines only' }).click();
  await expect.poll(() => log.locator('.line').count()).toBe(2);
  await drawer().getByRole('textbox', { name: 'Search logs' }).click();
  await page.keyboard.press('Escape');

  await drawer().getByRole('combobox', { name: 'Minimum level' }).selectOption('Errors only');
  await expect.poll(() => log.locator('.line').count()).toBe(2);
  await drawer().getByRole('combobox', { name: 'Minimum level' }).selectOption('All levels');
  await drawer().getByRole('combobox', { name: 'Time range' }).selectOption('Last hour');
  await drawer().getByText('2 pods, 6 lines').waitFor();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    drawer().getByRole('button', { name: 'Download logs' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe('web-web.log');
  // There was no run before this one; wrapping is remembered.
  await drawer().getByRole('group', { name: 'Container instance' }).getByText('Previous').click();
  await drawer()
    .getByText(/previous terminated container "web"/)
    .first()
    .waitFor();
  await drawer().getByRole('group', { name: 'Container instance' }).getByText('Current').click();
  await drawer().getByText('2 pods, 6 lines').waitFor();
  await drawer().getByRole('checkbox', { name: 'Wrap' }).click();
  await go(deploymentTab('summary'));
  await part('Replicas and placement').waitFor();
  await go(deploymentTab('logs'));
  await log.locator('.line').first().waitFor();
  expect(await log.evaluate((element) => element.classList.contains('wrapped'))).toBe(true);
  await drawer().getByRole('checkbox', { name: 'Wrap' }).click();

  // A component of the control plane is a pod, and its lines are read alike.
  await go('/workloads?kind=pods&open=kube-system/kube-scheduler-cp-1&tab=logs');
  await log.locator('.line.info .text').first().waitFor();
};

test('a workload is rolled out, read, entered, broken, rolled back, reached and drained', async () => {
  await apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'harbour' },
    data: { port: '8080' },
  });
  await apply({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
  });
  await apply({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: {
          labels: { app: 'web' },
          annotations: { 'simulation.pilothouse.dev/logs': LOG_LINES.join('\n') },
        },
        spec: {
          terminationGracePeriodSeconds: 1,
          containers: [
            {
              name: 'web',
              image: GOOD_IMAGE,
              ports: [{ containerPort: 8080 }],
              resources: { requests: { cpu: '20m', memory: '16Mi' } },
              env: [
                { name: 'PORT', valueFrom: { configMapKeyRef: { name: 'harbour', key: 'port' } } },
                { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
              ],
              readinessProbe: { httpGet: { port: 8080, path: '/' }, periodSeconds: 1 },
              volumeMounts: [{ name: 'chart', mountPath: '/etc/chart', readOnly: true }],
            },
          ],
          volumes: [{ name: 'chart', configMap: { name: 'harbour' } }],
        },
      },
    },
  });
  await go(deploymentTab('rollout'));
  await drawer().getByText('Successfully rolled out', { exact: true }).waitFor();
  await readDetails();
  await readLogs();
  await explainSelector(workbench());
  await findFailingController(workbench());

  const first = await runningPod();
  await go(podTab(first, 'terminal'));
  await drawer().getByRole('button', { name: 'Open shell' }).click();
  await drawer().locator('.xterm-rows').getByText('#').first().waitFor();
  // Letters and signs that are shortcuts of pages stay in the terminal.
  await page.keyboard.type('echo "$((20 + 22)) knots, go? :gc/"');
  await page.keyboard.press('Enter');
  await drawer().locator('.xterm-rows').getByText('42 knots, go? :gc/').last().waitFor();
  expect([await page.getByRole('dialog').count(), page.url().includes('tab=terminal')]).toEqual([0, true]);
  await drawer().getByRole('button', { name: 'Close shell' }).click();
  await drawer().getByRole('button', { name: 'Debug container' }).click();
  await drawer().getByRole('button', { name: 'Start and open shell' }).click();
  await drawer()
    .getByRole('combobox', { name: 'Container' })
    .getByText(/^debugger-/)
    .waitFor({ state: 'attached' });
  await drawer().locator('.xterm-rows').getByText('#').first().waitFor();

  await go(`/scheduler?pod=default/${first}`);
  await page.getByText('worker-1 was selected').waitFor();

  await request('PATCH', DEPLOYMENT_PATH, {
    spec: { template: { spec: { containers: [{ name: 'web', image: BROKEN_IMAGE }] } } },
  });
  await go(deploymentTab('rollout'));
  await drawer().getByText('Replacing pods').waitFor();
  await drawer().getByText(BROKEN_IMAGE).waitFor();
  await drawer().getByRole('button', { name: 'Roll back to revision 1' }).click();
  const question = page.getByRole('dialog');
  await question.getByText(BROKEN_IMAGE).waitFor();
  await question.getByRole('button', { name: 'Roll back to revision 1' }).click();
  await drawer().getByText('Successfully rolled out', { exact: true }).waitFor();
  await drawer().getByText('Revision 3').waitFor();

  const pod = await runningPod();
  await go(podTab(pod, 'ports'));
  await drawer().getByRole('button', { name: 'Forward port 8080' }).click();
  const url = await drawer()
    .getByRole('link', { name: /^http:/ })
    .textContent();
  expect(await ask(url ?? '')).toContain(pod);

  await go('/cluster?kind=nodes&open=/worker-1');
  await drawer().getByRole('button', { name: 'Drain' }).click();
  await page.getByRole('dialog').getByText('2 pods are evicted from').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Drain worker-1' }).click();
  await drawer().getByRole('button', { name: 'Uncordon' }).waitFor();
  const forwards = await contract.follow('forwards.watch', undefined);
  const problem = await until(
    'the end of the forward',
    async () => (await forwards())[0]?.problem ?? undefined,
  );
  // Its containers end a moment before it goes; either is the end of the forward.
  expect(inEnglish(problem)).toMatch(new RegExp(`^pod default/${pod} (?:was deleted|has terminated: \\w+)$`));
  await drawer().getByRole('button', { name: 'Uncordon' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Uncordon Node worker-1' }).click();
  const next = await until('the forward to follow the next pod', async () => {
    const [forward] = await forwards();
    return forward?.isWaiting === false && forward.pod !== pod ? forward.pod : undefined;
  });
  expect(await ask(url ?? '')).toContain(next);
  await go('/forwards');
  await page.getByRole('row').filter({ hasText: next }).getByText('Open', { exact: true }).waitFor();
  await evictAndUndo(workbench());
  expect(visited.complaints).toEqual([]);
});

test('a finding is fixed by a change that is shown as a diff first; the console reads and a person writes', async () => {
  const operations = await contract.follow('cluster.operations', { cluster });
  const component = 'kube-apiserver';
  const set = (value: string) => [{ name: 'etcd-compaction-interval', value }];
  const broken = { kind: 'component.flags', component, flags: set('0') } as const;
  expect(await actAndWait(contract, { cluster, action: broken }, operations)).toMatchObject({
    state: 'done',
  });
  // Nothing waits for a component that rejects its flags; it gets its old manifest back.
  const flags = [{ name: 'v', value: 'x' }];
  const wrong = { kind: 'component.flags', component: 'kube-scheduler', flags } as const;
  const { state, message } = await actAndWait(contract, { cluster, action: wrong }, operations);
  expect([state, message && inEnglish(message)]).toEqual([
    'failed',
    expect.stringContaining('invalid value "x" for --v: must be an integer'),
  ]);
  await go('/checklist');
  const fix = page.getByRole('button', { name: 'Fix: etcd history is compacted' });
  await fix.click();
  const question = page.getByRole('dialog');
  await question.getByText(/^−.*--etcd-compaction-interval=0/).waitFor();
  await question.getByText(/^\+.*--etcd-compaction-interval=5m0s/).waitFor();
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'detached' });
  // The diff alone changes nothing.
  const { files } = await contract.call('component.flagsDiff', { cluster, component, flags: set('5m0s') });
  expect(files.map(({ before }) => before.includes('--etcd-compaction-interval=0'))).toEqual([true]);
  await fix.click();
  await question.getByRole('button', { name: /kube-apiserver/ }).click();
  await until('the fix to be applied', async () => {
    const ended = (await operations()).filter(
      ({ action, state }) => action.kind === 'component.flags' && state === 'done',
    );
    return ended.length === 2;
  });
  await fix.waitFor({ state: 'detached' });

  await request('PATCH', DEPLOYMENT_PATH, { metadata: { labels: { by: 'person' } } });
  await go('/leases');
  await page.getByText(/^All 3 controllers have a leader/).waitFor();
  // Who sent requests with these verbs; an API server that was just restarted may take its time to say so.
  const usersOf = (filter: string, verbs: readonly string[]): Promise<string[]> =>
    until('the requests', async () => {
      const seen = await contract.call('xray.requests', { cluster, filter, auditId: null });
      return [...new Set(seen.filter(({ verb }) => verbs.includes(verb)).map(({ user }) => user))];
    });
  const READS = ['get', 'list', 'watch'];
  const WRITES = ['create', 'update', 'patch', 'delete'];
  expect(await usersOf(DEPLOYMENT_PATH, ['patch'])).toEqual(['kubernetes-admin']);
  await until('the console to read', async () => (await usersOf('pilothouse-console', READS)).length > 0);
  expect([await usersOf('pilothouse-console', READS), await usersOf('pilothouse-console', WRITES)]).toEqual([
    ['pilothouse-console'],
    [],
  ]);
});

/** Who did it, who may, how it is queued and stored: the pages of the guards, clicked through. */
test('a change is traced to its user, permissions are asked, and the key of Secrets is rotated', async () => {
  await go('/audit');
  // Components write all the time; the page opens with what people did.
  await page.getByRole('row').filter({ hasText: 'deployments' }).first().waitFor();
  const users = await page.locator('tbody td[title]').allTextContents();
  expect(users.filter((user) => user.includes('system:'))).toEqual([]);
  await typeInto(page.getByLabel('Filter by object or path'), 'harbour');
  const row = page.getByRole('row').filter({ hasText: 'default/configmaps/harbour' }).first();
  await row.getByRole('button').click();
  await drawer().getByText('kubernetes-admin').first().waitFor();
  await drawer().getByRole('link', { name: 'Everything by this user' }).click();
  await page.getByRole('row').filter({ hasText: 'deployments' }).first().waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Denied or failed' }).click();
  await page.locator('button[aria-pressed="true"]').getByText('Denied or failed').waitFor();

  await go('/permissions');
  await typeInto(page.getByRole('textbox', { name: 'Verb' }), 'get');
  await typeInto(page.getByRole('textbox', { name: 'Resource' }), 'secrets');
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.getByRole('link', { name: 'kubeadm:cluster-admins' }).click();
  await page.getByText('What can this subject do?').waitFor();
  await page.getByRole('row').filter({ hasText: '*' }).first().waitFor();

  await page.getByText('Connections', { exact: true }).click();
  await typeInto(page.getByRole('textbox', { name: 'From' }), '192.0.2.1');
  await typeInto(page.getByRole('textbox', { name: 'To' }), `default/${await runningPod()}`);
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.getByText('The connection is allowed').waitFor();
  await apply({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name: 'closed', namespace: 'default' },
    spec: { podSelector: {}, policyTypes: ['Ingress'] },
  });
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.getByText('The connection is denied').waitFor();
  await page.getByRole('link', { name: 'default/closed' }).click();
  await drawer().getByText('closed').first().waitFor();
  await request('DELETE', '/apis/networking.k8s.io/v1/namespaces/default/networkpolicies/closed');

  await go('/flow-control');
  await page.getByRole('row').filter({ hasText: 'leader-election' }).first().waitFor();
  await page.getByRole('row').filter({ hasText: 'catch-all' }).first().waitFor();

  await go('/encryption');
  const key = page.getByRole('row').filter({ hasText: 'Reads and writes' }).first().getByText(/^key-/);
  const before = await key.textContent();
  await page.getByRole('button', { name: 'Rotate key' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate the encryption key' }).click();
  await until('another key', async () => {
    const now = await key.textContent();
    return now !== null && now !== before;
  });
  await page.getByText(/Snapshots taken before the last rotation need/).waitFor();

  await go('/harden');
  const pulling = page.getByRole('switch', { name: 'Check registry credentials for every pod' });
  await page
    .getByText(/AlwaysPullImages/)
    .first()
    .waitFor();
  await pulling.click();
  await page
    .getByText(/AlwaysPullImages/)
    .first()
    .waitFor({ state: 'detached' });
  expect(visited.complaints).toEqual([]);
});

/** Whom the API server takes the console for; undefined while it rejects the console. */
const writer = async (): Promise<string | undefined> => {
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const answer = await contract
    .call('kube.request', { cluster, method: 'POST', path, body })
    .catch(() => null);
  if (!answer?.ok) return undefined;
  return (answer.body as { status: { userInfo: { username: string } } }).status.userInfo.username;
};

/** Opens the dialog of the chip with this label, and goes through the provider's page in a tab of its own. */
const signInFrom = async (label: string, button: string): Promise<void> => {
  await page.getByRole('banner').getByRole('button', { name: label }).click();
  const question = page.getByRole('dialog');
  await question.getByRole('button', { name: button, exact: true }).click();
  const [popup] = await Promise.all([
    visited.context.waitForEvent('page'),
    question.getByRole('link', { name: 'Open the sign-in page' }).click(),
  ]);
  await popup.getByRole('link', { name: 'Continue as Ada' }).click();
  await popup.getByRole('heading', { name: 'Signed in' }).waitFor();
  await popup.close();
  await question.getByText(OIDC_CLIENT.email).waitFor();
  await question.getByRole('button', { name: 'Sign out' }).waitFor();
  await page.keyboard.press('Escape');
};

test('a person signs in on the page of the provider, acts with her permissions, and signs out', async () => {
  const provider = await startOidcServer('127.0.0.1');
  try {
    const { clusters } = await contract.call('clusters.list', undefined);
    const file = join(clusters.find(({ id }) => id === cluster)!.local!.directory, 'authentication.yaml');
    const issuer = {
      url: provider.issuer,
      audiences: [OIDC_CLIENT.id],
      certificateAuthority: provider.authorityPem,
    };
    const jwt = [{ issuer, claimMappings: { username: { claim: 'email', prefix: 'oidc:' } } }];
    const before = readFileSync(file, 'utf8');
    writeFileSync(file, stringify({ ...(parse(before) as object), jwt }));
    await go('/config');
    await signInFrom('Sign in', 'Sign in');
    await until(
      'the API server to accept her token',
      async () => (await writer()) === 'oidc:ada@example.com',
    );
    // Nothing was granted to her, and the console shows nothing that she may not see.
    await go('/config?kind=secrets');
    await page
      .getByText(/User "oidc:ada@example.com" cannot list/)
      .first()
      .waitFor();

    // Her token expires, and the provider has forgotten that it may be renewed.
    provider.idTokenSeconds = 1;
    await signInFrom(OIDC_CLIENT.email, 'Sign in again');
    provider.rotateKeys();
    expect(await writer()).toBeUndefined();
    await go('/network');
    await page.getByRole('banner').getByRole('button', { name: 'Sign-in expired' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('dialog').getByText('the administrator certificate is used').waitFor();
    await page.keyboard.press('Escape');
    expect(await writer()).toBe('kubernetes-admin');
    writeFileSync(file, before);
  } finally {
    await provider.stop();
  }
});

test('a drill is started from its page, hinted, repaired and graded', async () => {
  await go('/drills');
  await page.getByRole('button', { name: 'Start: New pods stay Pending' }).click();
  await page.getByRole('button', { name: 'Show hint' }).click();
  await page.getByText('A pod without a node and without events').waitFor();
  const repair = { kind: 'component.start', host: 'cp-1', component: 'kube-scheduler' } as const;
  await actAndWait(
    contract,
    { cluster, action: repair },
    await contract.follow('cluster.operations', { cluster }),
  );
  const check = page.locator('button:not([aria-busy])', { hasText: 'Check repair' });
  // The scheduler takes its lease first.
  await until('the drill to be solved', async () => {
    if (await check.isVisible()) await check.click();
    return page.getByText('What happened').isVisible();
  });
  await page.getByText('host start cp-1 kube-scheduler').first().waitFor();
});

test('every page is accessible in both themes', async () => {
  await page.keyboard.press('Escape');
  const links = page.getByRole('navigation', { name: 'Sections' }).getByRole('link');
  const paths = await links.evaluateAll((all) =>
    all.map((link) => link.getAttribute('href')?.slice(1) ?? ''),
  );
  expect(paths.length).toBeGreaterThan(15);
  // Help has a navigation of its own, to its documents.
  for (const path of [...paths, '/help']) {
    await go(path);
    const current = 'nav a[aria-current="page"]';
    await page.locator(`${current}[href="#${path}"], ${current}[href^="#${path}?"]`).first().waitFor();
    // The themes differ in their colours alone.
    for (const [colorScheme, rules] of [
      ['dark', COLOUR_RULES],
      ['light', undefined],
    ] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      // Asked again: a colour on its way from one theme to the other is in neither.
      await expect
        .poll(() => accessibilityProblems(page, rules), {
          timeout: AXE_LIMIT_MS,
          message: `${path} ${colorScheme}`,
        })
        .toEqual([]);
    }
  }
  expect(visited.complaints).toEqual([]);
});

test('a small and a large window hold pages without a bar to scroll sideways', async () => {
  for (const size of [
    { width: 1024, height: 700 },
    { width: 2560, height: 1440 },
  ]) {
    await page.setViewportSize(size);
    for (const path of ['/', '/raft', '/metrics', '/snapshots', '/harden', '/workloads?kind=pods']) {
      await go(path);
      await page.locator(`nav a[aria-current="page"][href="#${path.split('?')[0]}"]`).waitFor();
      const overflow = () =>
        page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      await expect.poll(overflow, { message: `${path} at ${size.width}` }).toBe(0);
    }
  }
});
