import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { message, protobufBody } from '../../core/apiserver/protobuf/testing/protobuf-writer.ts';
import { ETCD_BINARY, etcdctl, startRealEtcd } from '../clients/real-etcd.ts';

/** The desktop app on a cluster of its own. */
export interface WhyDesk {
  readonly page: Page;
  /** Answers the file dialog of the system. */
  answerFileDialog(path: string): Promise<unknown>;
}

const go = (page: Page, path: string): Promise<unknown> =>
  page.evaluate((to) => (window.location.hash = to), path);
const row = (page: Page, text: string): Locator => page.getByRole('row').filter({ hasText: text }).first();

/** The kill, the election, the lease and the member on one screen, and from the last of them back to who began it. */
export const readLeaderStory = async (page: Page, killed: string): Promise<void> => {
  await go(page, '/timeline');
  for (const text of [
    `Host ${killed} was killed`,
    `etcd member ${killed} is unreachable`,
    'became etcd leader in term',
    `kube-scheduler moved from ${killed}`,
  ])
    await row(page, text).waitFor();
  await row(page, `kube-scheduler moved from ${killed}`).getByRole('button').click();
  const selected = page.getByRole('region', { name: 'Selected entry' });
  await selected.getByRole('button', { name: new RegExp(`Host ${killed} was killed$`) }).waitFor();
  await selected.getByRole('button', { name: new RegExp(`pilothouse host kill ${killed}$`) }).waitFor();
};

/** A snapshot of a real etcd that holds protobuf, as kube-apiserver writes it, opened from the file dialog and read as YAML. */
export const readForeignSnapshot = async ({ page, answerFileDialog }: WhyDesk): Promise<void> => {
  if (!existsSync(ETCD_BINARY)) throw new Error(`${ETCD_BINARY} is needed: install etcd-server`);
  const directory = await mkdtemp(join(tmpdir(), 'pilothouse-foreign-'));
  const etcd = await startRealEtcd(join(directory, 'etcd'));
  try {
    const object = message(
      [1, message([1, 'tides'], [3, 'faraway'], [5, 'uid-1'])],
      [2, message([1, 'high'], [2, '06:12'])],
    );
    await etcd.call('kv/put', {
      key: Buffer.from('/registry/configmaps/faraway/tides').toString('base64'),
      value: Buffer.from(protobufBody('v1', 'ConfigMap', object)).toString('base64'),
    });
    const file = join(directory, 'foreign.db');
    await etcdctl('--endpoints', etcd.endpoint, 'snapshot', 'save', file);
    await answerFileDialog(file);
    await go(page, '/history');
    await page.getByRole('button', { name: 'Open a snapshot file' }).click();
    await page
      .getByRole('navigation', { name: 'Resources' })
      .getByText('configmaps', { exact: true })
      .click();
    await page.getByRole('button', { name: 'tides', exact: true }).click();
    const panel = page.getByRole('complementary');
    for (const text of ['kind: ConfigMap', 'namespace: faraway', '06:12'])
      await panel
        .locator('.view-line, pre, code')
        .filter({ hasText: text.replaceAll(' ', '\u00a0') })
        .or(panel.getByText(text))
        .first()
        .waitFor();
  } finally {
    await etcd.stop();
    await rm(directory, { recursive: true, force: true });
  }
};
