import { expect, test } from 'vitest';
import { compressText, unpackedText } from './compressed-document.ts';

test('everyone who reads a document unpacked shares one buffer', async () => {
  const document = await compressText(['a'.repeat(100_000), 'b'.repeat(100_000)]);
  const [first, second] = await Promise.all([unpackedText(document), unpackedText(document)]);
  const third = await unpackedText(document);
  expect([first.length, second === first, third === first]).toEqual([200_000, true, true]);
});
