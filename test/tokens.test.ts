import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const RENDERER = new URL('../renderer/', import.meta.url);
/** Set by the library of popovers. */
const FOREIGN = /^--reka-/;

test('every custom property that the console uses is defined: an unknown one is silently transparent or inherited', () => {
  const texts = readdirSync(RENDERER, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(vue|css|ts)$/.test(file))
    .map((file) => [file, readFileSync(new URL(file, RENDERER), 'utf8')] as const);
  const defined = new Set(
    texts.flatMap(([, text]) =>
      [...text.matchAll(/(?:^|[\s'"{;])(--[a-z0-9-]+)['"]?:/g)].map(([, name]) => name!),
    ),
  );
  const unknown = texts.flatMap(([file, text]) =>
    [...text.matchAll(/var\((--[a-z0-9-]+)/g)]
      .map(([, name]) => name!)
      .filter((name) => !defined.has(name) && !FOREIGN.test(name))
      .map((name) => `${file}: ${name}`),
  );
  expect(defined.size).toBeGreaterThan(80);
  expect(unknown).toEqual([]);
});
