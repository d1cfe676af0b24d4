import { expect, test } from 'vitest';
import { headingId, parseInline, parseMarkdown, plainText } from './parse.ts';

const TEXT = `# Title of \`it\`

First line
and its second, with **weight** and [a link](install.md#deb).

- one
  goes on
- two

1. first
2. second

| a | b |
| --- | --- |
| 1 \\| 2 | \`x\` |

> A remark
> of two lines.

\`\`\`
code <b>stays</b>
\`\`\`
`;

test('blocks of every form are distinguished', () => {
  const blocks = parseMarkdown(TEXT);
  expect(blocks.map(({ kind }) => kind)).toEqual([
    'heading',
    'paragraph',
    'list',
    'list',
    'table',
    'quote',
    'code',
  ]);
  expect(blocks[0]).toMatchObject({ level: 1, id: 'title-of-it' });
  expect(blocks[1]).toEqual({
    kind: 'paragraph',
    content: [
      { kind: 'text', text: 'First line and its second, with ' },
      { kind: 'strong', text: 'weight' },
      { kind: 'text', text: ' and ' },
      { kind: 'link', text: 'a link', href: 'install.md#deb' },
      { kind: 'text', text: '.' },
    ],
  });
  expect(blocks[2]).toMatchObject({ isOrdered: false });
  expect(blocks[2]?.kind === 'list' && blocks[2].items.map(plainText)).toEqual(['one goes on', 'two']);
  expect(blocks[3]).toMatchObject({ isOrdered: true });
  expect(blocks[4]).toEqual({
    kind: 'table',
    head: [[{ kind: 'text', text: 'a' }], [{ kind: 'text', text: 'b' }]],
    rows: [[[{ kind: 'text', text: '1 | 2' }], [{ kind: 'code', text: 'x' }]]],
  });
  expect(blocks[6]).toEqual({ kind: 'code', text: 'code <b>stays</b>' });
});

test('truncated or unknown markup is text, and parsing ends', () => {
  expect(parseMarkdown('```\nopen')).toEqual([{ kind: 'code', text: 'open' }]);
  expect(parseMarkdown('| a |\nno table').map(({ kind }) => kind)).toEqual(['paragraph']);
  expect(parseMarkdown('> ')).toEqual([{ kind: 'quote', content: [] }]);
  expect(parseInline('a * b ** c ` d [e](')).toEqual([{ kind: 'text', text: 'a * b ** c ` d [e](' }]);
  expect(parseMarkdown('|'.repeat(20_000))).toHaveLength(1);
});

test('headings get the names that links use', () => {
  expect(headingId('Backup & restore: a “drill”')).toBe('backup-restore-a-drill');
});
