import type { Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { openConsolePlane, type ConsolePlane } from '../support/console-plane.ts';
import { until } from '../support/until.ts';

// What a person does with lists and objects, by keys and clicks, on one server.

const OCTET = 13;
const MANY = 120;
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

let plane: ConsolePlane;
beforeAll(async () => {
  plane = await openConsolePlane(OCTET);
  await plane.unlock();
});
// Nothing that one test left open stands in the way of the next.
afterEach(() => plane?.page.reload());
afterAll(() => plane?.close());

const row = (name: string): Locator => plane.page.getByRole('row').filter({ hasText: name });
const dialog = (): Locator => plane.page.getByRole('dialog');
const names = async (path: string, prefix: string): Promise<string[]> => {
  const { items } = await plane.client.json<{ items: { metadata: { name: string } }[] }>({
    method: 'GET',
    path,
  });
  return items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith(prefix));
};
const configMap = (name: string): Promise<unknown> =>
  plane.make(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });

test('a list is worked by keys: J and K, Shift, Ctrl+A, Delete, Esc, and from the filter to the list and back', async () => {
  const { page, go } = plane;
  for (const name of ['key-a', 'key-b', 'key-c', 'key-d']) await configMap(name);
  await go('/config?kind=configmaps');
  await row('key-d').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('key-');
  await page.keyboard.press('Enter');
  const grid = page.getByRole('grid');
  const active = (): Promise<string | null> => grid.getAttribute('aria-activedescendant');
  const selected = page.locator('[role=row][aria-selected=true]');
  for (const key of ['j', 'j', 'j', 'k']) await page.keyboard.press(key);
  await until('the second row', async () => (await active())?.endsWith('key-b'));
  await page.keyboard.press('Shift+ArrowDown');
  await page.keyboard.press('Shift+J');
  await until('three rows', async () => (await selected.count()) === 3);
  await page.keyboard.press('Escape');
  await until('no row', async () => (await selected.count()) === 0);
  await page.keyboard.press('Control+a');
  await until('every row of the filter', async () => (await selected.count()) === 4);
  await page.keyboard.press('/');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.type('key-');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Delete');
  await dialog().getByText('default/key-c', { exact: true }).waitFor();
  await dialog().getByRole('textbox').focus();
  await page.keyboard.type('4');
  await page.keyboard.press('Enter');
  await until('all four to be gone', async () => (await names(CONFIG_MAPS, 'key-')).length === 0);
  await dialog().waitFor({ state: 'detached' });
});

test('many are deleted with the question in view, progress, and nothing half selected afterwards', async () => {
  const { page, go } = plane;
  await Promise.all(Array.from({ length: MANY }, (_, index) => configMap(`bulk-${index}`)));
  await go('/config?kind=configmaps');
  await page.locator('main input[data-filter]').click();
  await page.keyboard.type('bulk-');
  await row('bulk-0').first().waitFor();
  await page.getByRole('grid').focus();
  await page.keyboard.press('Control+a');
  await page
    .getByRole('toolbar')
    .getByRole('button', { name: `Delete ${MANY}` })
    .click();
  const title = dialog().getByRole('heading');
  const confirm = dialog().getByRole('textbox');
  const { height = 0 } = page.viewportSize() ?? {};
  for (const part of [title, confirm, dialog().getByRole('button', { name: /^Delete/ })]) {
    const box = await part.boundingBox();
    expect(box && box.y >= 0 && box.y + box.height <= height).toBe(true);
  }
  await confirm.focus();
  await page.keyboard.type(String(MANY));
  await page.keyboard.press('Enter');
  await until('all to be gone', async () => (await names(CONFIG_MAPS, 'bulk-')).length === 0);
  await dialog().waitFor({ state: 'detached' });
  await page.locator('main input[data-filter]').click();
  await page.keyboard.press('Escape');
  const all = page.getByRole('columnheader').getByRole('checkbox');
  await until('an empty head', () =>
    all.evaluate((box: HTMLInputElement) => !box.indeterminate && !box.checked),
  );
});

test('a secret is shown by key and on request; its YAML shows no value before that', async () => {
  const { page, go, make } = plane;
  const applied = '{"stringData":{"password":"hunter2"}}';
  await make('/api/v1/namespaces/default/secrets', {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: 'login',
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': applied },
    },
    stringData: { password: 'hunter2', user: 'anna' },
  });
  await go('/config?kind=secrets&open=default/login');
  const drawer = page.getByRole('complementary');
  await drawer.getByText('password', { exact: true }).waitFor();
  expect(await drawer.textContent()).not.toMatch(/hunter2|anna/);
  await drawer.getByRole('button', { name: 'Reveal password' }).click();
  await drawer.getByText('hunter2', { exact: true }).waitFor();
  expect(await drawer.textContent()).not.toContain('anna');
  await drawer.getByRole('tab', { name: 'YAML' }).click();
  await drawer.getByText('last-applied-configuration').waitFor();
  const encoded = Buffer.from('hunter2').toString('base64');
  expect(await drawer.textContent()).not.toMatch(new RegExp(`hunter2|${encoded}`));
  await drawer.getByRole('switch').last().click();
  await drawer.getByText(encoded).waitFor();
});
