import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../paths.mjs';

const LICENCE_FILE = /^(licen[cs]e|copying|notice)(\.(md|txt|mit|apache2?))?$/i;
const RULE = '-'.repeat(80);

const textsOf = (folder) => {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => LICENCE_FILE.test(name))
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n').trim());
};

/** Names, versions and licence texts, as the licences ask for. */
export const licenceList = (packages, root = ROOT) =>
  [
    'Pilothouse contains the following third-party software.',
    '',
    ...packages.map(({ name, version, licence }) => `${name} ${version}: ${licence}`),
    ...packages.flatMap(({ name, version, licence, path }) => [
      '',
      RULE,
      `${name} ${version} (${licence})`,
      '',
      ...(path === undefined ? [] : textsOf(join(root, path))),
    ]),
    '',
  ].join('\n');
