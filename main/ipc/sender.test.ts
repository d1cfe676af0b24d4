import { expect, test } from 'vitest';
import { CONSOLE_ORIGIN, CONSOLE_URL } from './console-address.ts';
import { whyRefused, type Sender } from './sender.ts';

const frame = { parent: null, url: CONSOLE_URL, origin: CONSOLE_ORIGIN };
const from = (senderFrame: unknown, id = 1): string | undefined =>
  whyRefused({ sender: { id }, senderFrame } as Sender, (known) => known === 1, CONSOLE_ORIGIN);

test('the main frame of a console window is heard', () => {
  expect(from(frame)).toBeUndefined();
});

test('everybody else is refused with the reason', () => {
  expect([
    from(frame, 2),
    from(null),
    from({ ...frame, parent: frame }),
    from({ ...frame, url: 'https://example.com/', origin: 'https://example.com' }),
    from({ ...frame, origin: 'null' }),
    from({ ...frame, url: 'file:///etc/passwd' }),
  ]).toEqual([
    'it comes from a window that is not ours',
    'its frame is gone',
    'it comes from a subframe',
    'it comes from a foreign origin',
    'it comes from a foreign origin',
    'it comes from a foreign origin',
  ]);
});
