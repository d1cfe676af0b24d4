import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { makeHarness } from '../testing/harness.ts';
import { makeNode, makePod } from '../testing/objects.ts';
import { httpExtender } from './http-extender.ts';
import { postJsonTo } from './post-json.ts';

let server: Server | undefined;
afterEach(async () => {
  await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
  server = undefined;
});

type Answers = Readonly<Record<string, (body: Record<string, unknown>) => unknown>>;

/** A real server on loopback; an unknown verb is a 500. */
const serve = async (answers: Answers): Promise<string> => {
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const answer = answers[request.url?.split('/').at(-1) ?? ''];
      response.statusCode = answer ? 200 : 500;
      response.end(JSON.stringify(answer?.(JSON.parse(text) as Record<string, unknown>) ?? null));
    });
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/scheduler`;
};

const nodes = ['n1', 'n2', 'n3'].map((name) => makeNode(name));

test('an extender takes nodes out with its own words, and its scores decide', async () => {
  const urlPrefix = await serve({
    filter: (body) => ({
      nodenames: (body['nodenames'] as string[]).filter((name) => name !== 'n1'),
      failedNodes: { n1: 'no licence left' },
    }),
    prioritize: () => [
      { host: 'n2', score: 1 },
      { host: 'n3', score: 10 },
    ],
  });
  const config = {
    urlPrefix,
    filterVerb: 'filter',
    prioritizeVerb: 'prioritize',
    weight: 5,
    nodeCacheCapable: true,
  };
  const harness = makeHarness({ extenders: [httpExtender(config, postJsonTo(config))] });
  harness.addNodes(nodes);
  const decision = await harness.decide(makePod('a'));
  expect(decision).toMatchObject({ kind: 'placed', nodeName: 'n3' });
  const rejected: string[] = [];
  if (decision.kind === 'placed')
    decision.diagnosis.statuses.forEach((slot, { reasons }) =>
      rejected.push(`${harness.snapshot.entry(slot).name}: ${reasons.join()}`),
    );
  expect(rejected).toEqual(['n1: no licence left']);
});

test('an extender that fails stops the attempt, unless it may be ignored', async () => {
  const urlPrefix = await serve({});
  const decide = async (ignorable: boolean) => {
    const config = { urlPrefix, filterVerb: 'filter', ignorable };
    const harness = makeHarness({ extenders: [httpExtender(config, postJsonTo(config))] });
    harness.addNodes(nodes);
    return (await harness.decide(makePod('a'))).kind;
  };
  expect([await decide(false), await decide(true)]).toEqual(['error', 'placed']);
});

test('an extender is asked only about pods that want what it manages', () => {
  const extender = httpExtender(
    { urlPrefix: 'http://x', filterVerb: 'f', managedResources: [{ name: 'example.com/foo' }] },
    () => Promise.reject(new Error('not asked')),
  );
  expect([
    extender.isInterested(makePod('a', { requests: { cpu: '1' } })),
    extender.isInterested(makePod('b', { requests: { 'example.com/foo': 1 } })),
  ]).toEqual([false, true]);
});
