import { expect, test } from 'vitest';
import { connectionStage } from './connection-stage.ts';
import { fakeContext } from './testing/fake-context.ts';

const headersOf = (goawayChance: number, next: number, protocol: 'HTTP/1.1' | 'HTTP/2.0' = 'HTTP/2.0') => {
  const { context } = fakeContext({ url: '/version' });
  Object.defineProperty(context.request, 'protocol', { value: protocol });
  const random = { next: () => next } as Parameters<typeof connectionStage>[0]['random'];
  void connectionStage({ goawayChance, strictTransportSecurity: ['max-age=60', 'preload'], random }).run(
    context,
  );
  return [context.response.header('connection'), context.response.header('strict-transport-security')];
};

test('by chance an HTTP/2 client is told to connect again', () => {
  expect([headersOf(0.01, 0.005)[0], headersOf(0.01, 0.5)[0], headersOf(0, 0)[0]]).toEqual([
    'close',
    undefined,
    undefined,
  ]);
});

test('an HTTP/1.1 client keeps its connection', () => {
  expect(headersOf(0.01, 0, 'HTTP/1.1')[0]).toBeUndefined();
});

test('answers carry the directives of HSTS', () => {
  expect(headersOf(0, 0)[1]).toBe('max-age=60; preload');
});
