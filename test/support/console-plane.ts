import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { silentLog } from '../../core/base/log.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { systemRandom } from '../../core/base/node/random.ts';
import { connect, loadKubeconfig, type OwnedClient } from '../../core/client/index.ts';
import { issueLeaf, openAuthority, writeKubeconfig } from '../../core/pki/index.ts';
import { launchChromium, visit, type Visit } from './chromium.ts';
import { ControlPlane } from './control-plane.ts';
import { startTestServing } from './serving.ts';

const PAGES = fileURLToPath(new URL('../../dist/renderer', import.meta.url));
export const PLANE_CONTEXT = 'kubernetes-super-admin@test';

/** A console in Chromium, in front of a real API server with one etcd member and no controllers. */
export interface ConsolePlane {
  readonly client: OwnedClient;
  readonly page: Page;
  readonly complaints: readonly string[];
  /** Of the console. */
  readonly dataDirectory: string;
  make(path: string, body: unknown): Promise<unknown>;
  go(path: string): Promise<unknown>;
  /** Writes the kubeconfig of another user to `~/.kube`, where the console finds it; answers its path. */
  addUser(name: string, namespace: string): string;
  /** Allows changes, as a person does. */
  unlock(): Promise<void>;
  close(): Promise<void>;
}

const openVisit = async (browser: Browser, url: string): Promise<Visit> => {
  const open = await visit(browser, url);
  await open.page.getByRole('button', { name: `Use ${PLANE_CONTEXT}` }).click();
  return open;
};

export const openConsolePlane = async (octet: number): Promise<ConsolePlane> => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-console-'));
  const [browser, plane] = await Promise.all([
    launchChromium(),
    ControlPlane.create({
      etcd: 'pilothouse',
      members: 1,
      apiServers: 1,
      octet,
      directory: join(directory, 'plane'),
    }),
  ]);
  await plane.start();
  const kubeconfig = join(directory, 'kubeconfig');
  writeFileSync(kubeconfig, plane.kubeconfig('super-admin'));
  const client = connect(await loadKubeconfig(kubeconfig), {
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    userAgent: 'e2e',
  });
  const home = join(directory, 'home');
  mkdirSync(join(home, '.kube'), { recursive: true });
  const serving = await startTestServing({ pagesDirectory: PAGES, home });
  await serving.host.clusters.open(kubeconfig);
  const open = await openVisit(browser, serving.mintUrl());
  const { page } = open;
  return {
    client,
    page,
    complaints: open.complaints,
    dataDirectory: serving.dataDirectory,
    make: (path, body) => client.json({ method: 'POST', path, body }),
    go: (path) => page.goto(`https://127.0.0.1:${serving.port}/#${path}`),
    addUser(name, namespace) {
      const pki = (file: string): string => readFileSync(join(directory, 'plane/pki', file), 'utf8');
      const authority = openAuthority({ certificatePem: pki('ca.crt'), privateKeyPem: pki('ca.key') });
      const credential = issueLeaf(authority, {
        subject: { commonName: name },
        usages: ['client'],
        clock: systemClock,
      });
      const text = writeKubeconfig({
        clusterName: 'test',
        server: plane.apiServers[0]!.url,
        authorityPem: pki('ca.crt'),
        userName: name,
        credential,
      });
      const path = join(home, '.kube', `${name}.yaml`);
      writeFileSync(path, text.replace(/^( *)user: .*$/m, `$&\n$1namespace: ${namespace}`));
      return path;
    },
    async unlock() {
      await page.getByRole('button', { name: 'Read-only' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Allow changes' }).click();
      await page.getByRole('button', { name: 'Changes allowed' }).waitFor();
    },
    async close() {
      await open.close();
      await serving.close();
      client.dispose();
      await plane.stop();
      await browser.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
