import { expect, test } from 'vitest';
import { silentLog, type Log } from '../../base/log.ts';
import { manualClock } from '../../base/manual-clock.ts';
import { Registry } from '../../base/metrics/index.ts';
import { seededRandom } from '../../base/random.ts';
import { jsonText } from '../../api/meta/json-text.ts';
import { serviceUnavailable, tooManyRequests } from '../../api/meta/status-errors.ts';
import { settle } from '../testing/index.ts';
import { isFenced } from './errors.ts';
import { Requester, type RequesterOptions, type RequestTrace } from './requester.ts';
import { RestClient } from './rest-client.ts';
import { TokenBucket } from './token-bucket.ts';
import { TransportError, type WireRequest, type WireResponse } from './transport.ts';

type Answer = TransportError | { code: number; body?: unknown; headers?: Record<string, string> };

const setUp = (answers: readonly Answer[], more: Partial<RequesterOptions> = {}) => {
  const clock = manualClock();
  const sent: (WireRequest & { atMs: number })[] = [];
  const left = [...answers];
  const send = async (request: WireRequest): Promise<WireResponse> => {
    sent.push({ ...request, atMs: clock.monotonicMs() });
    const answer = left.shift() ?? { code: 200, body: 'ok' };
    if (answer instanceof TransportError) throw answer;
    return Promise.resolve({
      status: answer.code,
      headers: { 'content-type': 'application/json', ...answer.headers },
      body: (async function* () {
        yield await Promise.resolve(Buffer.from(jsonText(answer.body ?? {})));
      })(),
      dispose() {},
    });
  };
  const requester = new Requester({
    transport: { send, dispose() {} },
    host: 'h:1',
    clock,
    random: seededRandom(1),
    log: silentLog,
    timeoutMs: 600_000,
    ...(more.limiter === undefined
      ? more
      : { ...more, limiter: new TokenBucket({ clock, qps: 5, burst: 2 }) }),
  });
  const advance = async (durationMs: number): Promise<void> => {
    for (let i = 0; i < 10; i += 1) {
      await settle(() => sent.length);
      clock.advance(durationMs / 10);
    }
    await settle(() => sent.length);
  };
  return { clock, sent, advance, client: new RestClient(requester, { userAgent: 'test' }) };
};
const GET = { method: 'GET', path: '/x' } as const;
const POST = { method: 'POST', path: '/x', body: { a: 1 } } as const;
const lost = (maybeProcessed: boolean) => new TransportError('ConnectionLost', 'lost', { maybeProcessed });
const refused = new TransportError('ConnectionRefused', 'refused', { maybeProcessed: false });

test('integers above 2^53 keep their digits for those who ask, and are numbers for all others', async () => {
  const answer = { code: 200, body: { spec: { big: 9007199254740993n } } };
  const { client } = setUp([answer, answer]);
  expect(await client.json({ ...GET, isExact: true })).toEqual(answer.body);
  expect(await client.json(GET)).toEqual({ spec: { big: 9007199254740992 } });
});

test('a busy server that names a time is asked again then, whatever the method', async () => {
  const busy = { code: 429, body: tooManyRequests(2).status, headers: { 'retry-after': '2' } };
  const { client, sent, advance } = setUp([busy, { ...busy, code: 503 }]);
  const answer = client.json(POST);
  await advance(5_000);
  expect(await answer).toBe('ok');
  expect(sent.map(({ atMs }) => atMs)).toEqual([0, 2_000, 4_000]);
});

test('one that names none, or stays busy for ten tries, is an error', async () => {
  const without = setUp([{ code: 503, body: serviceUnavailable('no').status }]);
  await expect(without.client.json(GET)).rejects.toMatchObject({ reason: 'ServiceUnavailable', code: 503 });
  const busy = { code: 429, body: tooManyRequests(1).status, headers: { 'retry-after': '1' } };
  const { client, sent, advance } = setUp(Array<Answer>(20).fill(busy));
  const answer = expect(client.json(GET)).rejects.toMatchObject({ reason: 'TooManyRequests' });
  await advance(5_000);
  await advance(10_000);
  await answer;
  expect(sent.length).toBe(11);
});

test.each([
  ['GET', lost(true), 2],
  ['POST', lost(true), 1],
  ['POST', lost(false), 2],
  ['POST', refused, 2],
] as const)('%s after %s is sent %i times', async (method, failure, count) => {
  const { client, sent, advance } = setUp([failure]);
  const answer = client.json({ method, path: '/x' }).catch(() => undefined);
  await advance(1_000);
  await answer;
  expect(sent.length).toBe(count);
});

test('requests wait for the client rate limit, and give their turn back when aborted', async () => {
  const { client, sent, advance } = setUp([], {
    limiter: new TokenBucket({ clock: manualClock(), qps: 1, burst: 1 }),
  });
  const stop = new AbortController();
  const answers = [1, 2].map(() => client.json(GET));
  const aborted = expect(client.json({ ...GET, signal: stop.signal })).rejects.toThrow('stop');
  stop.abort(new Error('stop'));
  await aborted;
  answers.push(client.json(GET));
  await advance(1_000);
  expect((await Promise.all(answers)).length).toBe(3);
  expect(sent.map(({ atMs }) => atMs)).toEqual([0, 0, 200]);
});

test('the identity, the query and what is impersonated are in the request', async () => {
  const { client, sent } = setUp([], {
    authenticator: { headers: () => Promise.resolve({ authorization: 'Bearer t' }), rejected() {} },
    basePath: '/k8s/c1',
  });
  const query = { watch: true, limit: 5, none: undefined, empty: '', list: ['a', 'b'] };
  await client
    .as({ user: 'jane', groups: ['a', 'b'], extra: { 'example.com/Scope': ['x'] } })
    .json({ ...GET, query });
  expect(sent[0]).toMatchObject({
    path: '/k8s/c1/x?watch=true&limit=5&list=a&list=b',
    headers: {
      'user-agent': 'test',
      authorization: 'Bearer t',
      'impersonate-user': 'jane',
      'impersonate-group': ['a', 'b'],
      'impersonate-extra-example.com%2fscope': ['x'],
    },
  });
});

test('a request that has the wrong answer, or none in time, fails with what happened', async () => {
  const { client } = setUp([{ code: 500, headers: { 'content-type': 'text/plain' }, body: 'oops' }]);
  await expect(client.json(GET)).rejects.toMatchObject({
    code: 500,
    message: 'GET /x returned 500: "oops"',
  });
});

test('a fenced client sends nothing, not even a retry that was waiting', async () => {
  const busy = { code: 429, body: tooManyRequests(2).status, headers: { 'retry-after': '2' } };
  const { client, sent, advance } = setUp([busy]);
  const fence = new AbortController();
  const fenced = client.fenced(fence.signal);
  const answer = expect(fenced.json(GET)).rejects.toSatisfy(isFenced);
  await settle(() => sent.length);
  fence.abort();
  await answer;
  await expect(fenced.json(GET)).rejects.toSatisfy(isFenced);
  await advance(5_000);
  expect(sent.length).toBe(1);
  expect(await client.json(GET)).toBe('ok');
});

test('warnings, traces and metrics tell of each try', async () => {
  const warnings: string[] = [];
  const traces: RequestTrace[] = [];
  const registry = new Registry();
  const { client, advance } = setUp(
    [refused, { code: 200, body: 1, headers: { warning: '299 - "v1beta1 is \\"old\\"", 299 - "b"' } }],
    { registry, onWarning: ({ text }) => warnings.push(text), onTrace: (trace) => traces.push(trace) },
  );
  const answer = client.json(GET);
  await advance(1_000);
  await answer;
  expect(warnings).toEqual(['v1beta1 is "old"', 'b']);
  expect(traces.map(({ attempt, status, error }) => [attempt, status, error])).toEqual([
    [0, undefined, 'refused'],
    [1, 200, undefined],
  ]);
  expect(registry.expose()).toContain(
    'rest_client_requests_total{code="<error>",host="h:1",method="GET"} 1\n',
  );
  expect(registry.expose()).toContain(
    'rest_client_request_retries_total{code="<error>",host="h:1",verb="GET"} 1\n',
  );
});

test('a warning is logged once, however often the server repeats it', async () => {
  const lines: unknown[] = [];
  const log: Log = { ...silentLog, write: (_level, _message, fields) => void lines.push(fields) };
  const warned = { code: 200, body: 1, headers: { warning: '299 - "only once in a process"' } };
  const { client } = setUp([warned, warned], { log });
  await client.json(GET);
  await client.json(GET);
  expect(lines).toEqual([{ warning: 'only once in a process' }]);
});
