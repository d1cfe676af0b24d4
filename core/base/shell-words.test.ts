import { expect, test } from 'vitest';
import { shellLine } from './shell-words.ts';

test('what a shell would take apart or expand is quoted, and nothing else', () => {
  expect(shellLine(['rm', '/data/a.db', '/my data', "it's", '$HOME', ''])).toBe(
    String.raw`rm /data/a.db '/my data' 'it'\''s' '$HOME' ''`,
  );
});
