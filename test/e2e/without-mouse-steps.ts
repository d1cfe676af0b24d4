import type { Locator, Page } from 'playwright-core';
import type { OwnedClient } from '../../core/client/index.ts';
import { until } from '../support/until.ts';

const PATH = '/apis/apps/v1/namespaces/default/deployments/dinghy';
const IMAGE = 'nginx:1.29';
const BROKEN = 'nginx:missing';
const MANIFEST = [
  'apiVersion: apps/v1',
  'kind: Deployment',
  'metadata:',
  '  name: dinghy',
  'spec:',
  '  selector:',
  '    matchLabels: {app: dinghy}',
  '  template:',
  '    metadata:',
  '      labels: {app: dinghy}',
  '    spec:',
  '      containers:',
  '        - name: web',
  `          image: ${IMAGE}`,
];

interface Desk {
  readonly page: Page;
  readonly client: OwnedClient;
}

/** Undefined while there is no such Deployment. */
const imageOf = (client: OwnedClient): Promise<string | undefined> =>
  client
    .json<{ spec: { template: { spec: { containers: { image: string }[] } } } }>({
      method: 'GET',
      path: PATH,
    })
    .then(
      ({ spec }) => spec.template.spec.containers[0]?.image,
      () => undefined,
    );

/** A key that is pressed too early goes to the part that had the focus before. */
const focusIn = (what: string, part: Locator): Promise<unknown> =>
  until(`the focus in ${what}`, () => part.evaluate((element) => element.contains(document.activeElement)));

const writeManifest = async ({ page }: Desk): Promise<void> => {
  const { keyboard } = page;
  await keyboard.press('Control+k');
  await focusIn('the palette', page.getByRole('dialog'));
  await keyboard.type('New manifest');
  await page.getByRole('option', { name: /New manifest/ }).waitFor();
  await keyboard.press('Enter');
  await focusIn('the text', page.locator('.monaco-editor').first());
  for (const [index, text] of MANIFEST.entries()) {
    if (index > 0) {
      // Esc closes a suggestion, and does nothing without one; the indentation is typed, not the editor's.
      await keyboard.press('Escape');
      await keyboard.press('Enter');
      await keyboard.press('Shift+Home');
    }
    await keyboard.type(text);
  }
  await keyboard.press('Escape');
  await page.locator('.view-line').filter({ hasText: IMAGE }).first().waitFor();
};

const applyManifest = async (
  { page, client }: Desk,
  expected: { planned: string; done: string; image: string },
): Promise<void> => {
  const outcome = (text: string): Promise<void> =>
    page.getByRole('region', { name: 'Documents' }).getByText(text, { exact: true }).waitFor();
  await page.keyboard.press('F5');
  await outcome(expected.planned);
  await page.keyboard.press('Control+Enter');
  await outcome(expected.done);
  await until(expected.image, async () => (await imageOf(client)) === expected.image);
};

const deleteFromList = async ({ page, client }: Desk): Promise<void> => {
  const { keyboard } = page;
  const row = (name: string): Locator => page.getByRole('row').filter({ hasText: name });
  const dialog = page.getByRole('dialog');
  await keyboard.press('F6');
  await focusIn('the actions', page.locator('[data-acts]'));
  await keyboard.press(':');
  await focusIn('the palette', dialog);
  await keyboard.type('deployments');
  await page
    .getByRole('option', { name: /Deployments/ })
    .first()
    .waitFor();
  await keyboard.press('Enter');
  await row('dinghy').waitFor();
  await keyboard.press('/');
  await keyboard.type('dinghy');
  await keyboard.press('Enter');
  await row('hello').waitFor({ state: 'detached' });
  await keyboard.press('ArrowDown');
  await keyboard.press('Delete');
  await dialog.getByRole('heading', { name: 'Delete Deployment dinghy?' }).waitFor();
  await focusIn('the confirmation', dialog.getByRole('textbox'));
  await keyboard.type('dinghy');
  await keyboard.press('Enter');
  await until('the Deployment to be deleted', async () => (await imageOf(client)) === undefined);
  await row('dinghy').waitFor({ state: 'detached' });
};

/** Writes, applies, breaks, undoes and deletes an application with key presses alone. */
export const workWithoutMouse = async (desk: Desk): Promise<void> => {
  const { keyboard } = desk.page;
  await writeManifest(desk);
  await applyManifest(desk, { planned: 'Will be created', done: 'Created', image: IMAGE });
  for (let count = 0; count < '1.29'.length; count += 1) await keyboard.press('Backspace');
  await keyboard.type('missing');
  await keyboard.press('Escape');
  await applyManifest(desk, { planned: 'Will be configured', done: 'Configured', image: BROKEN });
  await keyboard.press('F9');
  await until('the image to be restored', async () => (await imageOf(desk.client)) === IMAGE);
  await desk.page.getByText('1 change undone').first().waitFor();
  await deleteFromList(desk);
};
