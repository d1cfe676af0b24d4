import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { OwnedClient } from '../../core/client/index.ts';
import { adminClient } from '../support/cluster.ts';
import { launchDesktop, openDesk, type Desk, type Desktop } from '../support/electron.ts';
import { actAndWait, contractOf, type PageContract } from '../support/page-contract.ts';
import { until } from '../support/until.ts';
import { inspectEtcd } from './etcd-inspection-steps.ts';
import { useSampleExtension } from './extension-steps.ts';
import { readForeignSnapshot, readLeaderStory, type WhyDesk } from './why-steps.ts';
import { workWithoutMouse } from './without-mouse-steps.ts';

// An operator's day in the desktop app, on one cluster: each test continues where the one before has ended.

const OLD_VERSION = 'v1.35.0';
const NEW_VERSION = 'v1.36.0';
const BROKEN_IMAGE = 'nginx:missing';
const HOSTS = ['cp-1', 'cp-2', 'cp-3'] as const;
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
/** A few seconds each on a machine at rest; minutes beside other suites. */
const TEST_LIMIT_MS = 600_000;
const WAIT_LIMIT_MS = 240_000;

let desk: Desk;
let desktop: Desktop;
let page: Page;
let contract: PageContract;
let cluster: string;
let client: OwnedClient;
const complaints: string[] = [];
let hasFailed = false;

beforeAll(async () => {
  desk = await openDesk();
  desktop = await launchDesktop(desk);
  ({ page } = desktop);
  page.setDefaultTimeout(WAIT_LIMIT_MS);
  page.on('pageerror', (error) => complaints.push(error.message));
  await desktop.app.evaluate(({ BrowserWindow }) =>
    BrowserWindow.getAllWindows()[0]?.setBounds({ x: 0, y: 0, width: 1440, height: 900 }),
  );
});
afterAll(async () => {
  client?.dispose();
  await desktop?.close().catch(() => undefined);
  await desk?.close();
});

afterEach(({ task }) => {
  hasFailed ||= task.result?.state === 'fail';
});
beforeEach(({ skip }) => {
  if (hasFailed) skip('a test before has left the cluster half way');
});
/** The hash alone changes, so that the page, and what it has open, stay. */
const go = (path: string): Promise<unknown> => page.evaluate((to) => (window.location.hash = to), path);
const drawer = (): Locator => page.getByRole('complementary');
const button = (name: string | RegExp): Locator => page.getByRole('button', { name, exact: true });
/** Chooses in the one dialog that is open; a refusal keeps it there and is in its text. */
const confirm = async (name: string): Promise<void> => {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
};
const chooseOnHost = async (host: string, item: string): Promise<void> => {
  await button(`Actions for ${host}`).click();
  // From its beginning: `Start` is in `Restart` too.
  await page.getByRole('menuitem', { name: new RegExp(`^${item}`) }).click();
};
const statusBar = (): Locator => page.getByRole('contentinfo', { name: 'Status' });
const switcher = (): Locator => page.getByRole('button', { name: 'Cluster: rehearsal' });
const tableRow = (text: string): Locator => page.getByRole('row').filter({ hasText: text });
const hello = (tab: string): string => `/workloads?kind=deployments.apps&open=default/hello&tab=${tab}`;

const line = (text: string): Locator => page.locator('.view-line').filter({ hasText: text });
/** Puts the cursor at the end of the first line of the editor with that text. */
const cursorAfter = async (text: string): Promise<void> => {
  await line(text).first().click();
  await page.keyboard.press('End');
};
/** Takes back as many characters, then writes; done when the editor shows it. */
const retype = async (erased: string, text: string): Promise<void> => {
  for (let i = 0; i < erased.length; i += 1) await page.keyboard.press('Backspace');
  await page.keyboard.type(text);
  await line(text).first().waitFor();
};
const apply = (): Locator => button('Apply 2 documents');
const isApplyRefused = async (): Promise<boolean> => (await apply().getAttribute('aria-disabled')) === 'true';

interface Listed {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly deletionTimestamp?: string;
  };
  readonly status?: { readonly phase?: string };
}
const listAt = async (path: string): Promise<Listed[]> =>
  (await client.json<{ items: Listed[] }>({ method: 'GET', path })).items;
const runningPod = (): Promise<string> =>
  until(
    'a running pod',
    async () =>
      (await listAt('/api/v1/namespaces/default/pods')).find(
        ({ metadata, status }) => status?.phase === 'Running' && !metadata.deletionTimestamp,
      )?.metadata.name,
  );
const makeConfigMap = (name: string): Promise<unknown> =>
  client.json({
    method: 'POST',
    path: CONFIG_MAPS,
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } },
  });

/** The dialog belongs to the desktop: what it would answer is put in its place. */
const answerFileDialog = (chosen: string): Promise<void> =>
  desktop.app.evaluate(({ dialog }, path) => {
    dialog.showOpenDialog = () => Promise.resolve({ canceled: false, filePaths: [path] });
  }, chosen);
const whyDesk = (): WhyDesk => ({ page, answerFileDialog });

test('the first run creates a cluster and shows its progress', { timeout: TEST_LIMIT_MS }, async () => {
  await page.getByRole('heading', { name: 'Create your first cluster' }).waitFor();
  await button('Settings').click();
  await page.getByRole('textbox', { name: 'Worker nodes' }).fill('1');
  await page.getByRole('group', { name: 'Kubernetes version' }).getByText(OLD_VERSION).click();
  await button('Create cluster').click();
  await page.getByText('Certificates and keys').waitFor();
  await page.getByRole('heading', { name: 'Topology' }).waitFor();
  await page.getByText('3 of 3 backends ready').waitFor();
  await page.getByRole('link', { name: /^Node worker-1: Ready/ }).waitFor();
  contract = await contractOf(page);
  cluster = (await contract.call('clusters.list', undefined)).clusters[0]!.id;
  client = await adminClient(cluster);
});

test(
  'a Deployment is written with completion; what is broken or refused is reported and keeps the text',
  { timeout: TEST_LIMIT_MS },
  async () => {
    await go('/editor');
    await button('Start from a sample').click();
    await cursorAfter('replicas');
    await page.keyboard.press('Enter');
    await page.keyboard.type('minR');
    const suggestion = page.locator('.suggest-widget').getByText('minReadySeconds');
    // The schemas are on their way from the server while one types: it is asked again until they are there.
    await until(
      'the suggestion',
      async () => {
        if (await suggestion.isVisible()) return true;
        // Esc closes an empty list; with nothing to close it would leave the editor.
        if (await page.locator('.suggest-widget.visible').isVisible()) await page.keyboard.press('Escape');
        await page.keyboard.press('Control+Space');
        return suggestion.waitFor({ timeout: 2_000 }).then(() => true);
      },
      WAIT_LIMIT_MS,
    );
    await page.keyboard.press('Tab');
    await page.keyboard.type('1');
    await line('minReadySeconds: 1').waitFor();

    // Within one line, and with nothing open that a key could choose from.
    await page.keyboard.press('Escape');
    await cursorAfter('replicas');
    await retype('', ': [');
    await page.getByText('Invalid YAML').waitFor();
    await page.getByRole('alert').getByText('Document 1 is not valid YAML').waitFor();
    expect(await isApplyRefused()).toBe(true);

    await retype('2: [', '-2');
    await button(/^Dry run/).click();
    await page.getByRole('alert').getByText('must be greater than or equal to 0').waitFor();
    expect(await isApplyRefused()).toBe(true);

    await cursorAfter('replicas');
    await retype('-2', '2');
    await line('-2').waitFor({ state: 'detached' });
    await page.keyboard.press('F5');
    await page.getByRole('rowheader', { name: 'spec.minReadySeconds' }).waitFor();
    await apply().click();
    await page.getByText('2 documents applied').first().waitFor();
  },
);

test(
  'a rollout, its logs and a terminal are shown; a broken image is detected and rolled back',
  { timeout: TEST_LIMIT_MS },
  async () => {
    await go(hello('rollout'));
    await drawer().getByText('Successfully rolled out', { exact: true }).waitFor();
    await go(hello('logs'));
    await drawer().getByText('2 pods').waitFor();
    await go(`/workloads?kind=pods&open=default/${await runningPod()}&tab=terminal`);
    await drawer().getByRole('button', { name: 'Open shell' }).click();
    await drawer().locator('.xterm-rows').getByText('#').first().waitFor();
    await page.keyboard.type('echo $((20 + 22)) knots');
    await page.keyboard.press('Enter');
    await drawer().locator('.xterm-rows').getByText('42 knots').waitFor();

    await go('/editor');
    await cursorAfter('image: nginx');
    await retype('nginx:1.29', BROKEN_IMAGE);
    await page.keyboard.press('F5');
    await page.getByRole('cell', { name: BROKEN_IMAGE }).waitFor();
    await apply().click();
    await page.getByText('2 documents applied').first().waitFor();
    await go(hello('rollout'));
    await drawer().getByText('Replacing pods').waitFor();
    await drawer().getByText(BROKEN_IMAGE).waitFor();
    await drawer().getByRole('button', { name: 'Roll back to revision 1' }).click();
    await confirm('Roll back to revision 1');
    await drawer().getByText('Revision 3').waitFor();
    await drawer().getByText('Successfully rolled out', { exact: true }).waitFor();
  },
);

test(
  'a forwarded port opens in the browser of the system; a manifest and a file of a container are saved here',
  { timeout: TEST_LIMIT_MS },
  async () => {
    const saved = join(desk.home, 'saved.yaml');
    await desktop.app.evaluate(({ shell, session }, path) => {
      const opened: string[] = [];
      Object.assign(globalThis, { openedOutside: opened });
      shell.openExternal = (url) => Promise.resolve(void opened.push(url));
      session.defaultSession.on('will-download', (_event, item) => item.setSavePath(path));
    }, saved);
    await go(`/workloads?kind=pods&open=default/${await runningPod()}&tab=ports`);
    await drawer().getByRole('button', { name: 'Forward port 80', exact: true }).click();
    const link = drawer().getByRole('link', { name: /^http:/ });
    const url = await link.getAttribute('href');
    await link.click();
    await until('the browser', async () => {
      const opened = await desktop.app.evaluate(
        () => (globalThis as unknown as { openedOutside: string[] }).openedOutside,
      );
      return opened.length === 1 && opened[0] === url;
    });
    await go('/editor');
    await button('Save to file').click();
    await until('the file', () => existsSync(saved) && readFileSync(saved, 'utf8').includes(BROKEN_IMAGE));

    // Any bytes, to the container and back.
    const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 7) % 256));
    await go(`/workloads?kind=pods&open=default/${await runningPod()}&tab=files`);
    await drawer().getByRole('button', { name: 'tmp', exact: true }).click();
    await drawer().getByText('This folder is empty').waitFor();
    await drawer()
      .locator('input[type=file]')
      .setInputFiles({ name: '-odd ü.bin', mimeType: 'application/octet-stream', buffer: bytes });
    await drawer().getByRole('button', { name: 'Download -odd ü.bin' }).click();
    await until('the bytes', () => readFileSync(saved).equals(bytes));
  },
);

test(
  'the leader host is killed on the map; the monitors show the election and the lease handed over',
  { timeout: TEST_LIMIT_MS },
  async () => {
    const leases = await contract.follow('leases.watch', { cluster });
    const members = await contract.follow('etcd.members', { cluster });
    const leads = async (host: string): Promise<boolean> =>
      (await members()).members.some(({ name, role }) => name === host && role === 'leader');
    const holder = await until('a holder', async () => {
      const lease = (await leases()).leases.find(({ name }) => name === 'kube-scheduler');
      return /^cp-\d/.exec(lease?.holder ?? '')?.[0];
    });
    await go('/raft?window=5m');
    // One kill then takes the lead of etcd and the lease of the scheduler with it.
    await until('the lead where the lease is', async () => {
      if (await leads(holder)) return true;
      await button(`Actions for ${holder}`).click();
      await page.getByRole('menuitem', { name: `Move leader to ${holder}` }).click();
      await confirm(`Move leader to ${holder}`);
      return until('the lead', () => leads(holder), 10_000);
    });
    await page.getByRole('row', { name: new RegExp(`^${holder}.*Leader`) }).waitFor();
    await go('/');
    await chooseOnHost(holder, `Kill ${holder}`);
    await page.getByRole('dialog').getByText('2 of 3 etcd members healthy').waitFor();
    await confirm(`Kill ${holder}`);
    await page
      .getByRole('article', { name: `Host ${holder}` })
      .getByText('Killed')
      .waitFor();
    // One model of health: the chip, the status bar and the bell agree that something is wrong.
    await button(/unread notification/).waitFor();
    await page.locator('.toast').getByText(`rehearsal: host ${holder} was killed`).waitFor();
    await statusBar().getByText(`rehearsal degraded: ${holder} down`).waitFor();
    await switcher().getByText('Degraded').waitFor();
    expect(await statusBar().getByText('Live', { exact: true }).count()).toBe(0);
    const busiest = await page.getByText(/busiest thread \d+/).textContent();
    expect(Number(/(\d+)/.exec(busiest ?? '')?.[1])).toBeLessThanOrEqual(100);
    await go('/metrics?section=etcd');
    const killed = page.locator('.metric .legend').getByText(holder, { exact: true });
    await until('no value of the killed host', async () => {
      const readings = await killed.evaluateAll((all) =>
        all.map((name) => name.parentElement?.textContent?.trim() ?? ''),
      );
      return readings.length > 0 && readings.every((text) => text.endsWith('–'));
    });

    await go('/raft?window=5m');
    await page.getByRole('img', { name: new RegExp(`elected for term \\d+ after ${holder}`) }).waitFor();
    await page.getByRole('row', { name: new RegExp(`^${holder}.*Unreachable`) }).waitFor();
    await page.getByRole('img', { name: new RegExp(`^${holder} has been down since`) }).waitFor();
    await page.getByText('2 of 3 healthy: quorum holds but tolerates no failure.').waitFor();
    await go('/leases?window=5m');
    const bars = page.getByRole('group', { name: 'Holders of each leader election lease, last 5 min' });
    const successor = new RegExp(`^(?!${holder})cp-\\d has held kube-scheduler since`);
    await bars.getByRole('img', { name: successor }).waitFor();
    await bars.getByRole('img', { name: new RegExp(`^${holder} held kube-scheduler from`) }).waitFor();
    await readLeaderStory(page, holder);

    await go('/');
    await chooseOnHost(holder, `Start ${holder}`);
    await confirm(`Start ${holder}`);
    await page.getByText('3 of 3 backends ready').waitFor();
  },
);

test(
  'members are compared by hash; locks, users and roles of etcd are listed',
  { timeout: TEST_LIMIT_MS },
  () => inspectEtcd(page, cluster),
);

test(
  'a disk is slowed from the map, seen on its host and healed by a click; a host is restarted',
  { timeout: TEST_LIMIT_MS },
  async () => {
    await go('/');
    await chooseOnHost('cp-2', 'Inject fault');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Slow disk').click();
    await dialog.getByText(`pilothouse fault slow-disk cp-2 100 --data ${cluster}`).waitFor();
    await confirm('Slow down the disk of cp-2 by 100 ms');
    const strip = page.getByRole('region', { name: 'Injected faults' });
    await strip.getByText('WAL fsync on cp-2 is delayed by 100 ms').waitFor();
    await page.getByRole('article', { name: 'Host cp-2' }).getByText('1 fault').waitFor();
    await strip.getByRole('button', { name: /^Heal/ }).click();
    await strip.waitFor({ state: 'detached' });

    await chooseOnHost('workers', 'Restart workers');
    await confirm('Restart workers');
    const operations = await contract.follow('cluster.operations', { cluster });
    await until('the restart', async () =>
      (await operations()).some(({ action, state }) => action.kind === 'host.restart' && state === 'done'),
    );
  },
);

test('a snapshot of a real etcd with protobuf is read as YAML', { timeout: TEST_LIMIT_MS }, () =>
  readForeignSnapshot(whyDesk()),
);

test('an extension is allowed, used and asked about again', { timeout: TEST_LIMIT_MS }, async () =>
  useSampleExtension(page, desk.dataDirectory, await runningPod()),
);

test(
  'when API servers stop behind an open list it says so, and recovers without missing or stale rows',
  { timeout: TEST_LIMIT_MS },
  async () => {
    for (const name of ['anchor', 'buoy']) await makeConfigMap(name);
    await go('/config?kind=configmaps');
    await tableRow('buoy').waitFor();
    const operations = await contract.follow('cluster.operations', { cluster });
    const onEveryHost = async (kind: 'component.stop' | 'component.start'): Promise<void> => {
      for (const host of HOSTS) {
        const action = { kind, host, component: 'kube-apiserver' } as const;
        expect(await actAndWait(contract, { cluster, action }, operations)).toMatchObject({ state: 'done' });
      }
    };
    await onEveryHost('component.stop');
    await button(/^Watch status: Stale/).click();
    await page.getByText('waiting to retry').waitFor();
    await tableRow('anchor').waitFor();
    await page.keyboard.press('Escape');
    await go('/');
    await page.getByText('No API server is responding.').waitFor();
    await go('/editor');
    await button(/^Dry run/).click();
    await page.getByText('No result for this document').waitFor();
    await line(BROKEN_IMAGE).waitFor();
    await go('/config?kind=configmaps');
    await onEveryHost('component.start');
    await until('a write', () => makeConfigMap('compass'));
    await client.json({ method: 'DELETE', path: `${CONFIG_MAPS}/anchor` });
    await button(/^Watch status: Live/).waitFor();
    await until('the rows of the server', async () => {
      const rows = await page.getByRole('row').evaluateAll((all) =>
        all.slice(1).map((row) => {
          const [name, namespace] = [
            ...row.querySelectorAll('[role=rowheader], [role=rowheader] ~ [role=gridcell]'),
          ];
          return `${namespace?.textContent?.trim()}/${name?.textContent?.trim()}`;
        }),
      );
      const stored = (await listAt('/api/v1/configmaps')).map(
        ({ metadata }) => `${metadata.namespace}/${metadata.name}`,
      );
      return rows.length > 0 && rows.sort().join() === stored.sort().join();
    });
  },
);

test(
  'a deleted namespace is restored from a snapshot; a damaged file changes nothing',
  { timeout: TEST_LIMIT_MS },
  async () => {
    const harbour = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'harbour' } };
    await client.json({ method: 'POST', path: '/api/v1/namespaces', body: harbour });
    const chart = { metadata: { name: 'chart' }, data: { depth: '7' } };
    const charts = '/api/v1/namespaces/harbour/configmaps';
    await client.json({ method: 'POST', path: charts, body: chart });
    await go('/snapshots');
    await button('Take snapshot').first().click();
    await confirm('Take snapshot');
    await tableRow('Verified').waitFor();
    await go('/cluster?kind=namespaces&open=/harbour');
    await drawer().getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('harbour');
    await confirm('Delete Namespace harbour');
    await tableRow('harbour').waitFor({ state: 'detached' });

    // One object alone comes back, with the namespace it needs.
    const harbourGone = (): Promise<boolean> =>
      until('the namespace is gone', async () => {
        const { items } = await client.json<{ items: { metadata: { name: string } }[] }>({
          method: 'GET',
          path: '/api/v1/namespaces',
        });
        return items.every(({ metadata }) => metadata.name !== 'harbour');
      });
    await harbourGone();
    await go('/snapshots');
    await tableRow('Verified').getByRole('button', { name: 'Browse' }).click();
    await page
      .getByRole('navigation', { name: 'Resources' })
      .getByText('configmaps', { exact: true })
      .click();
    await button('chart').click();
    await drawer().getByText('depth', { exact: true }).waitFor();
    await button('Restore this object').click();
    await page
      .getByRole('dialog')
      .getByText('namespace harbour does not exist and is restored first')
      .waitFor();
    await confirm('Restore');
    await until('the ConfigMap', () =>
      client.json({ method: 'GET', path: `${charts}/chart` }).then(
        () => true,
        () => false,
      ),
    );
    await client.json({ method: 'DELETE', path: '/api/v1/namespaces/harbour' });
    await harbourGone();

    const backups = await contract.follow('backups.watch', { cluster });
    const bytes = readFileSync((await backups()).files[0]!.file);
    const damaged = join(desk.home, 'damaged.db');
    writeFileSync(damaged, bytes.fill(0xff, bytes.length >> 1, (bytes.length >> 1) + 64));
    await go('/snapshots');
    await expect(contract.call('backups.compare', { cluster, file: damaged })).rejects.toThrow(/^Forbidden/);
    await answerFileDialog(damaged);
    await button('Restore from a file').click();
    await page.getByRole('alert').getByText('Cannot restore damaged.db').waitFor();
    await page.getByText(/Nothing was changed/).waitFor();
    await page.getByRole('alert').getByRole('button', { name: 'Cancel' }).click();

    await tableRow('Verified').getByRole('button', { name: 'Restore', exact: true }).click();
    await page.getByText('+ harbour', { exact: true }).waitFor();
    for (const box of await page.getByRole('checkbox').all()) await box.check();
    await page.getByRole('textbox', { name: /rehearsal/ }).fill('rehearsal');
    await button('Restore rehearsal').click();
    await page.getByText('The cluster now runs on the snapshot.').waitFor();
    await go('/cluster?kind=namespaces');
    await tableRow('harbour').waitFor();
  },
);

test(
  'without a mouse an application is written, applied, broken, undone and deleted',
  { timeout: TEST_LIMIT_MS },
  async () => {
    await go('/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await workWithoutMouse({ page, client });
  },
);

test('a certificate is renewed and served', { timeout: TEST_LIMIT_MS }, async () => {
  await go('/certificates?open=hosts/cp-1/apiserver');
  const details = page.getByRole('complementary', { name: 'apiserver on cp-1' });
  const served = details.locator('.served-serial');
  const before = await served.getAttribute('title');
  await details.getByRole('button', { name: 'Renew' }).click();
  // Before and after, to the second.
  const moment = /\d\d:\d\d:\d\d/;
  await page.getByRole('dialog').getByRole('row', { name: 'apiserver on cp-1' }).getByText(moment).waitFor();
  await confirm('Renew 1 certificate');
  const renewed = page.getByRole('row', { name: /^apiserver on cp-1/ }).getByText(moment);
  await until('both moments', async () => new Set(await renewed.allTextContents()).size === 2);
  await until('another serial to be served', async () => {
    const now = await served.getAttribute('title');
    return now !== before && (await details.locator('.differs').count()) === 0;
  });
});

test('the cluster is upgraded over a minor version, host by host', { timeout: TEST_LIMIT_MS }, async () => {
  await go('/upgrade');
  await button(`Upgrade to ${NEW_VERSION}`).click();
  await confirm(`Upgrade to ${NEW_VERSION}`);
  await page.getByText(/^mixed: /).waitFor();
  await page.getByText(`Runs ${NEW_VERSION}, the latest supported version.`).waitFor();
  await page.getByText(`all ${NEW_VERSION}`).waitFor();
});

test(
  'a finished upgrade is rolled back; the table of versions follows every step',
  { timeout: TEST_LIMIT_MS },
  async () => {
    await button(`Roll back to ${OLD_VERSION}`).click();
    await confirm('Roll back the upgrade');
    const operations = await contract.follow('cluster.operations', { cluster });
    const rollback = async () =>
      (await operations()).find(({ action }) => action.kind === 'upgrade.rollback');
    // Once a step says that an API server was rolled back, the table shows its version, before the last step ends.
    for (const host of [...HOSTS].reverse()) {
      await until(`the API server on ${host}`, async () =>
        (await rollback())?.steps.some(({ id, state }) => id === `apiserver/${host}` && state === 'done'),
      );
      await page.getByRole('row', { name: new RegExp(`^${host}\\s+${OLD_VERSION}`) }).waitFor();
    }
    await page.getByText(`all ${OLD_VERSION}`).waitFor();
    await button(`Upgrade to ${NEW_VERSION}`).waitFor();
    expect([(await rollback())?.state, await button(/^Roll back to/).count()]).toEqual(['done', 0]);
    const version = await client.json<{ gitVersion: string }>({ method: 'GET', path: '/version' });
    expect([version.gitVersion, complaints]).toEqual([OLD_VERSION, []]);
  },
);
