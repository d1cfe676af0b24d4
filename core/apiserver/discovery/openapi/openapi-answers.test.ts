import { expect, test } from 'vitest';
import { fakeContext, type FakeRequest, type Sent } from '../../server/testing/fake-context.ts';
import { DiscoveryCatalog } from '../catalog.ts';
import { OpenApiDocuments } from './documents.ts';
import { answerOpenApi } from './openapi-answers.ts';

const documents = new OpenApiDocuments({ catalog: new DiscoveryCatalog(36), version: 'v1.36.0' });
const NOW_MS = Date.UTC(2026, 0, 1);

const ask = async (request: FakeRequest): Promise<Sent> => {
  const { context, sent } = fakeContext(request);
  expect(await answerOpenApi(context, documents, NOW_MS)).toBe(true);
  return sent;
};

const ROOT = '/openapi/v3/version';
const etagOf = async (): Promise<string> => (await documents.named('version')!).etag;

test('a document with its hash in the address never changes', async () => {
  const etag = await etagOf();
  const sent = await ask({ url: `${ROOT}?hash=${etag.replaceAll('"', '')}` });
  expect(Object.fromEntries(sent.headers)).toMatchObject({
    etag,
    'cache-control': 'public, immutable',
    expires: 'Fri, 01 Jan 2027 00:00:00 GMT',
    vary: 'Accept',
  });
  expect(JSON.parse(sent.text())).toMatchObject({ openapi: '3.0.0', info: { version: 'v1.36.0' } });
});

test('an old hash leads to the new address', async () => {
  const sent = await ask({ url: `${ROOT}?hash=00` });
  const location = `${ROOT}?hash=${(await etagOf()).replaceAll('"', '')}`;
  expect({ code: sent.code, location: sent.headers.get('location') }).toEqual({ code: 301, location });
});

test('a client with the current document gets 304', async () => {
  const etag = await etagOf();
  const sent = await ask({ url: ROOT, headers: { 'if-none-match': `"other", W/${etag}` } });
  expect({ code: sent.code, text: sent.text() }).toEqual({ code: 304, text: '' });
});

test('gzip is sent as it is kept', async () => {
  const sent = await ask({ url: ROOT, headers: { 'accept-encoding': 'gzip' } });
  const { gzipped } = await documents.named('version')!;
  expect(sent.headers.get('content-encoding')).toBe('gzip');
  expect(sent.headers.get('content-length')).toBe(String(gzipped.byteLength));
});

test.each([
  ['application/json', 200, 'application/json'],
  [
    'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
    200,
    'application/com.github.proto-openapi.spec.v2.v1.0+protobuf',
  ],
  ['text/html', 406, undefined],
])('OpenAPI 2 as %s is answered with %d', async (accept, code, contentType) => {
  const sent = await ask({ url: '/openapi/v2', headers: { accept } });
  expect([sent.code, sent.headers.get('content-type')]).toEqual([code, contentType]);
});

test('a document that no one published is left to others', async () => {
  const { context } = fakeContext({ url: '/openapi/v3/apis/none.example/v1' });
  expect(await answerOpenApi(context, documents, NOW_MS)).toBe(false);
});
