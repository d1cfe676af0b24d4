import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { markdownReference } from '../main/cli/reference/pages.ts';
import { COMMANDS, referencesOf } from '../main/cli/table.ts';
import prettier from 'prettier';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const FOLDERS = 'core|main|renderer|resources|test|docs';

/** Paths in backticks that start with a folder of this repository. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(new RegExp(`\`((?:${FOLDERS})(?:/[\\w.-]+)+)\``, 'g'))].map(([, path]) => path!);

test('the files and folders that ARCHITECTURE.md names exist', () => {
  const paths = pathsIn(read('ARCHITECTURE.md'));
  expect(paths.length).toBeGreaterThan(80);
  expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test('the files that READMEs of folders name exist', () => {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  }).split('\n');
  const readmes = files.filter(
    (file) =>
      /^(core|main|renderer|resources|test)\/.*README\.md$/.test(file) && existsSync(join(ROOT, file)),
  );
  const dead = readmes.flatMap((readme) =>
    [...read(readme).matchAll(/`([\w./-]+\.(?:ts|vue|mjs|css))`/g)]
      .map(([, name]) => name!)
      .filter((name) => !files.some((file) => file === name || file.endsWith(`/${name}`)))
      .map((name) => `${readme}: ${name}`),
  );
  expect(readmes.length).toBeGreaterThan(100);
  expect(dead).toEqual([]);
});

test('links between documents lead to files', () => {
  const documents = [
    'README.md',
    'CONTRIBUTING.md',
    'ARCHITECTURE.md',
    ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`),
  ];
  const dead = documents.flatMap((file) =>
    [...read(file).matchAll(/\]\((?!https:|#)([^)#\s]+)/g)]
      .map(([, target]) => target!)
      .filter((target) => !existsSync(join(ROOT, dirname(file), target)))
      .map((target) => `${file}: ${target}`),
  );
  expect(dead).toEqual([]);
});

test('docs/commands.md is the help of this version', async () => {
  const text = markdownReference(await referencesOf(COMMANDS));
  const formatted = await prettier.format(text, {
    ...(await prettier.resolveConfig(join(ROOT, 'docs/commands.md'))),
    parser: 'markdown',
  });
  // After a change of a usage text: vitest run --project unit test/documents.test.ts -u
  await expect(formatted).toMatchFileSnapshot(join(ROOT, 'docs/commands.md'));
});

test('the newest release of the changelog is the version of package.json', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const releases = [...read('CHANGELOG.md').matchAll(/^## (\S+) - \d{4}-\d{2}-\d{2}$/gm)].map(
    ([, name]) => name,
  );
  expect([releases[0], releases.at(-1)]).toEqual([version, '0.1.0']);
});

test('docs/pages.md describes every page of the console, by the title that it has', () => {
  const pages = read('docs/pages.md');
  const titles = Object.assign(
    {},
    ...readdirSync(join(ROOT, 'renderer/locales/en')).map((file) =>
      Object.fromEntries(
        [...read(`renderer/locales/en/${file}`).matchAll(/^ {2}'([\w.]+)': '([^']+)',$/gm)].map(
          ([, key, text]) => [key!, text!],
        ),
      ),
    ),
  ) as Record<string, string>;
  const shown = readdirSync(join(ROOT, 'renderer/pages'))
    .flatMap((name) => [`renderer/pages/${name}/page.ts`])
    .filter((file) => existsSync(join(ROOT, file)))
    .map((file) => titles[/^ {2}title: '([\w.]+)'/m.exec(read(file))?.[1] ?? ''] ?? file);
  expect(shown.length).toBeGreaterThan(25);
  expect(shown.filter((title) => !pages.includes(`**${title}**`))).toEqual([]);
});
