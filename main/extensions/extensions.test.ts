import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { extensionPagePath, type ExtensionEntry } from '../../core/contract/index.ts';
import { ownFolder } from '../../test/support/own-folder.ts';
import { openExtensions, type Extensions } from './extensions.ts';

const SAMPLE = fileURLToPath(new URL('../../resources/samples/extensions/restarts', import.meta.url));

let data: string;
let extensions: Extensions;
const open = (): Extensions =>
  openExtensions({
    dataDirectory: data,
    nowMs: () => 1,
    onDamage: ({ message }) => {
      throw new Error(message);
    },
  });
beforeEach(() => {
  data = ownFolder('pilothouse-extensions-');
  mkdirSync(join(data, 'extensions'));
  extensions = open();
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

const folder = (name: string): string => join(data, 'extensions', name);
const install = (name = 'restarts'): void => cpSync(SAMPLE, folder(name), { recursive: true });
const entry = async (name = 'restarts'): Promise<ExtensionEntry> => {
  const found = (await extensions.list()).extensions.find((one) => one.name === name);
  if (!found) throw new Error(`${name} is not listed`);
  return found;
};
const reasonOf = (work: () => unknown): Promise<unknown> =>
  Promise.resolve()
    .then(work)
    .then(
      () => 'done',
      (error: unknown) => (error as { reason?: unknown }).reason,
    );

test('an extension shows no page and may read nothing until a person has allowed it', async () => {
  install();
  const seen = await entry();
  expect(seen).toMatchObject({ title: 'Restarts', read: ['pods'], isAllowed: false, wasAllowed: false });
  expect(await extensions.page(extensionPagePath(seen))).toBeUndefined();
  expect(await reasonOf(() => extensions.readsOf(seen))).toBe('ConsentRequired');

  await extensions.allow(seen);
  // Another console of the same data directory knows, too.
  extensions = open();
  expect(await entry()).toMatchObject({ isAllowed: true });
  expect(extensions.readsOf(seen)).toEqual(['pods']);
  expect((await extensions.page(extensionPagePath(seen)))?.body).toContain('<title>Restarts</title>');
});

test('a change of any file asks again, and the old page is gone; what was consented to stays what it was', async () => {
  install();
  const before = await entry();
  await extensions.allow(before);
  const manifest = { apiVersion: 'pilothouse.dev/v1', title: 'Restarts', read: ['pods', 'configmaps'] };
  writeFileSync(join(folder('restarts'), 'extension.json'), JSON.stringify(manifest));
  const after = await entry();
  expect(after).toMatchObject({ isAllowed: false, wasAllowed: true });
  expect(await extensions.page(extensionPagePath(before))).toBeUndefined();
  expect(await extensions.page(extensionPagePath(after))).toBeUndefined();
  // A frame that is still open reads what its own files declared, not what the new ones do.
  expect(extensions.readsOf(before)).toEqual(['pods']);
  expect(await reasonOf(() => extensions.readsOf(after))).toBe('ConsentRequired');
  // What a person saw is what is allowed, not what came since.
  expect(await reasonOf(() => extensions.allow(before))).toBe('Conflict');

  await extensions.allow(after);
  expect(await reasonOf(() => extensions.readsOf(before))).toBe('ConsentRequired');
  expect((await extensions.revoke('restarts')).extensions[0]).toMatchObject({
    isAllowed: false,
    wasAllowed: false,
  });
  expect(await reasonOf(() => extensions.readsOf(after))).toBe('ConsentRequired');
});

test('an unusable folder is listed with the reason and cannot be allowed', async () => {
  mkdirSync(folder('Bad Name'));
  symlinkSync(SAMPLE, folder('linked'));
  mkdirSync(folder('empty'));
  writeFileSync(folder('README.md'), '');
  const { extensions: listed } = await extensions.list();
  expect(listed.map(({ name, problem }) => [name, problem?.code])).toEqual([
    ['Bad Name', 'extension.problem.name'],
    ['empty', 'extension.problem.noFile'],
    ['linked', 'extension.problem.notFolder'],
  ]);
  for (const name of ['empty', 'linked', '..', '../..', 'absent'])
    expect(await reasonOf(() => extensions.allow({ name, fingerprint: 'a'.repeat(64) })), name).toBe(
      'BadRequest',
    );
});

test('no path but that of an allowed extension gives a page', async () => {
  install();
  const allowed = await entry();
  await extensions.allow(allowed);
  const path = extensionPagePath(allowed);
  const paths = [
    '/',
    '/extension-page/',
    '/extension-page/restarts',
    `/extension-page/restarts/${'0'.repeat(64)}`,
    `/extension-page/../restarts/${allowed.fingerprint}`,
    `/extension-page/RESTARTS/${allowed.fingerprint}`,
    `${path}/`,
    `${path}/page.js`,
    path.toUpperCase(),
  ];
  for (const one of paths) expect(await extensions.page(one), one).toBeUndefined();
});

test('more folders than the limit are not read', async () => {
  for (let at = 0; at < 20; at += 1) mkdirSync(folder(`e${at}`));
  const { extensions: listed, isCut } = await extensions.list();
  expect([listed.length, isCut]).toEqual([16, true]);
});

test('without a folder there are no extensions', async () => {
  rmSync(join(data, 'extensions'), { recursive: true });
  expect(await extensions.list()).toMatchObject({ extensions: [], isCut: false });
});
