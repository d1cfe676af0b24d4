// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import { documents, searchDocuments } from './documents.ts';

test('every document has a title, and links between documents lead somewhere', () => {
  const names = new Set([...documents.map(({ name }) => name), 'README']);
  expect(documents.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['install', 'tour', 'commands', 'troubleshooting']),
  );
  const dead = documents.flatMap(({ name, text }) =>
    [...text.matchAll(/\]\(([\w-]+)\.md/g)].flatMap(([, to]) => (names.has(to!) ? [] : [`${name} to ${to}`])),
  );
  expect(dead).toEqual([]);
});

test('a search finds sections by all words, headings first', () => {
  const hits = searchDocuments('snapshot restore');
  expect(hits.length).toBeGreaterThan(1);
  expect(searchDocuments('update feeds')[0]).toMatchObject({ heading: 'Update feeds', id: 'update-feeds' });
  expect([searchDocuments('  '), searchDocuments('xyzzy')]).toEqual([[], []]);
});
