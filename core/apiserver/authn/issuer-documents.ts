import type { KeyObject } from 'node:crypto';
import { methodNotAllowed } from '../../api/meta/index.ts';
import type { Stage } from '../server/pipeline.ts';
import { algorithmFor, keyIdOf } from './jwt.ts';

const CONFIGURATION_PATH = '/.well-known/openid-configuration';
const KEYS_PATH = '/openid/v1/jwks';
const CACHE_CONTROL = 'public, max-age=3600';

export interface IssuerDocumentsOptions {
  readonly issuer: string;
  /** Where the keys are, if not at this server. */
  readonly keysUrl: string;
  /** host:port */
  readonly address: string;
  readonly keys: readonly KeyObject[];
}

/** In the order of fields that upstream writes. */
const jwkOf = (key: KeyObject): Readonly<Record<string, unknown>> => {
  const { kty, ...parts } = key.export({ format: 'jwk' });
  return { use: 'sig', kty, kid: keyIdOf(key), alg: algorithmFor(key), ...parts };
};

/**
 * How others verify this cluster's service account tokens: the discovery document of OpenID Connect and the public
 * keys. Absent for an issuer that is no https URL, as upstream.
 */
export const issuerDocumentsStage = (options: IssuerDocumentsOptions): Stage => {
  const { issuer, keysUrl, address, keys } = options;
  const isServed = /^https:\/\/[^?#]+$/.test(issuer);
  const configuration = JSON.stringify({
    issuer,
    jwks_uri: keysUrl === '' ? `https://${address}${KEYS_PATH}` : keysUrl,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set(keys.map(algorithmFor))].sort(),
  });
  const keySet = JSON.stringify({ keys: keys.map(jwkOf) });
  const documents = new Map([
    [CONFIGURATION_PATH, { type: 'application/json', text: configuration }],
    [KEYS_PATH, { type: 'application/jwk-set+json', text: keySet }],
  ]);
  return {
    name: 'issuer-documents',
    async run({ request, response, info }) {
      const document = isServed && !info.isResourceRequest && documents.get(info.path.replace(/\/$/, ''));
      if (!document) return 'next';
      if (request.method !== 'GET') throw methodNotAllowed();
      response.setHeader('cache-control', CACHE_CONTROL);
      await response.send(200, document.type, document.text);
      return 'done';
    },
  };
};
