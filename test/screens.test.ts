import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { SCREENS } from '../resources/setup/screens/index.mjs';

const PAGES = new URL('../renderer/pages/', import.meta.url);

const paths = readdirSync(PAGES, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('/page.ts'))
  .flatMap((file) => [...readFileSync(new URL(file, PAGES), 'utf8').matchAll(/^ +path: '([^']+)',$/gm)])
  .map(([, path]) => path!);

test('every page of the console is photographed; resources/setup/screens has the list', () => {
  const photographed = new Set(SCREENS.map(({ go }) => go.slice(1).split('?')[0]));
  expect(paths.length).toBeGreaterThan(30);
  expect(paths.filter((path) => !photographed.has(path))).toEqual([]);
});

test('no two screens have the same file name', () => {
  const names = SCREENS.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
