import { expect, test } from 'vitest';
import { shellLine } from './shell-words.ts';

test('only arguments that a shell would split or expand are quoted', () => {
  expect(shellLine(['rm', '/data/a.db', '/my data', "it's", '$HOME', ''])).toBe(
    String.raw`rm /data/a.db '/my data' 'it'\''s' '$HOME' ''`,
  );
});
