import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import type { RequestContext } from '../server/context.ts';
import { issuerDocumentsStage } from './issuer-documents.ts';
import { keyIdOf } from './jwt.ts';

const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const ask = async (path: string, issuer = 'https://issuer.example.com', method = 'GET') => {
  const sent: unknown[] = [];
  const stage = issuerDocumentsStage({ issuer, keysUrl: '', address: '127.9.0.1:6443', keys: [publicKey] });
  const context = {
    request: { method },
    info: { isResourceRequest: false, path },
    response: {
      setHeader: (name: string, value: string) => sent.push(`${name}: ${value}`),
      send: (...answer: unknown[]) => Promise.resolve(void sent.push(...answer)),
    },
  } as unknown as RequestContext;
  return { result: await stage.run(context), sent };
};

test('the discovery document names the keys and how tokens are signed', async () => {
  const { sent } = await ask('/.well-known/openid-configuration');
  expect(sent).toEqual([
    'cache-control: public, max-age=3600',
    200,
    'application/json',
    '{"issuer":"https://issuer.example.com","jwks_uri":"https://127.9.0.1:6443/openid/v1/jwks",' +
      '"response_types_supported":["id_token"],"subject_types_supported":["public"],' +
      '"id_token_signing_alg_values_supported":["ES256"]}',
  ]);
});

test('the keys are public ones, with the identifiers that tokens name', async () => {
  const { sent } = await ask('/openid/v1/jwks/');
  const { crv, x, y } = publicKey.export({ format: 'jwk' });
  expect(sent.slice(2, 3)).toEqual(['application/jwk-set+json']);
  expect(JSON.parse(String(sent[3]))).toEqual({
    keys: [{ use: 'sig', kty: 'EC', kid: keyIdOf(publicKey), alg: 'ES256', crv, x, y }],
  });
});

test('other paths, and issuers that are no https URL, are left to others', async () => {
  expect(await ask('/openid/v1')).toEqual({ result: 'next', sent: [] });
  expect(await ask('/openid/v1/jwks', 'kubernetes/serviceaccount')).toEqual({ result: 'next', sent: [] });
});

test('documents can only be read', async () => {
  await expect(ask('/openid/v1/jwks', 'https://a', 'POST')).rejects.toThrow();
});
