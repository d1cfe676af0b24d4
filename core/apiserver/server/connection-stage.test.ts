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

test('HTTP/2 clients are asked at random to reconnect', () => {
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

test('when a server joins, connections leave with its share, at a few looks at the servers', () => {
  const { context } = fakeContext({ url: '/version' });
  const draws: number[] = [];
  const random = { next: () => draws.shift() ?? 0.9 } as Parameters<typeof connectionStage>[0]['random'];
  const stage = connectionStage({ goawayChance: 0.001, strictTransportSecurity: [], random });
  const leaves = (peer: object): boolean => {
    const next = fakeContext({ url: '/version', peer: peer as typeof context.request.peer }).context;
    void stage.run(next);
    return next.response.header('connection') === 'close';
  };
  const [old, other] = [{ ...context.request.peer }, { ...context.request.peer }];
  expect([leaves(old), leaves(other)]).toEqual([false, false]);
  stage.setServerCount(3);
  draws.push(0.6);
  expect(leaves(old)).toBe(true);
  expect([leaves(old), leaves(other)]).toEqual([false, false]);
  const late = { ...context.request.peer };
  draws.push(0.6);
  expect([leaves(late), leaves(late)]).toEqual([false, false]);
  // It came back before the load balancer had seen the others: it is asked again, and not at every look.
  const looksAtWhich = Array.from({ length: 12 }, (_, index) => index + 1).filter(() => {
    stage.setServerCount(3);
    draws.splice(0, draws.length, 0.6);
    return leaves(late);
  });
  expect(looksAtWhich).toEqual([2, 8]);
});

test('a server that leaves sends no client away', () => {
  const { context } = fakeContext({ url: '/version' });
  const random = { next: () => 0.01 } as Parameters<typeof connectionStage>[0]['random'];
  const stage = connectionStage({ goawayChance: 0.001, strictTransportSecurity: [], random });
  stage.setServerCount(3);
  void stage.run(context);
  stage.setServerCount(2);
  const next = fakeContext({ url: '/version', peer: context.request.peer }).context;
  void stage.run(next);
  expect(next.response.header('connection')).toBeUndefined();
});
