import { expect, test } from 'vitest';
import { outgoing } from './outgoing.ts';

test('a message of the contract passes without what rode along', () => {
  expect([
    outgoing({ kind: 'hello', extra: 1 }),
    outgoing({ kind: 'call', id: 1, name: 'app.info', channel: 'evil' }),
    outgoing({ kind: 'open', id: 2, name: 'settings.watch', input: undefined }),
    outgoing({ kind: 'close', id: 2, name: 'x' }),
  ]).toEqual([
    { kind: 'hello' },
    { kind: 'call', id: 1, name: 'app.info', input: undefined },
    { kind: 'open', id: 2, name: 'settings.watch', input: undefined },
    { kind: 'close', id: 2 },
  ]);
});

test.each([
  [undefined],
  ['call'],
  [{ kind: 'eval' }],
  [{ kind: 'call', id: 1, name: 'shell.openPath' }],
  [{ kind: 'call', id: 1, name: 'toString' }],
  [{ kind: 'call', id: 1, name: 'settings.watch' }],
  [{ kind: 'open', id: 1, name: 'app.info' }],
  [{ kind: 'call', id: 0, name: 'app.info' }],
  [{ kind: 'credit', id: '1' }],
])('%j is refused', (message) => {
  expect(() => outgoing(message)).toThrow('not a message of the contract');
});
