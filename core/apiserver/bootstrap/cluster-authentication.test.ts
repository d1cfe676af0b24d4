import { expect, test } from 'vitest';
import type { V1ConfigMap } from '../../api/schema/index.ts';
import { ensureClusterAuthentication, type ClusterAuthentication } from './cluster-authentication.ts';
import { memoryWriter } from './testing/memory-writer.ts';

const pem = (body: string): string => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;
const authentication = (
  ca: string,
  expired = 'none',
  name = 'front-proxy-client',
): ClusterAuthentication => ({
  clientCa: pem(ca),
  requestHeader: {
    ca: pem(`${ca}-proxy`),
    allowedNames: [name],
    usernameHeaders: ['X-Remote-User'],
    uidHeaders: ['X-Remote-Uid'],
    groupHeaders: ['X-Remote-Group'],
    extraHeaderPrefixes: ['X-Remote-Extra-'],
  },
  isExpired: (one) => one.includes(expired),
});

test('trust bundles of all servers are merged without expired authorities', async () => {
  const writer = memoryWriter();
  const dataAfter = async (one: ClusterAuthentication): Promise<V1ConfigMap['data']> => {
    await ensureClusterAuthentication(writer, one);
    const maps = { group: '', resource: 'configmaps' };
    const name = 'extension-apiserver-authentication';
    return ((await writer.get(maps, 'kube-system', name)) as V1ConfigMap).data;
  };
  expect(await dataAfter(authentication('old'))).toEqual({
    'client-ca-file': pem('old'),
    'requestheader-allowed-names': '["front-proxy-client"]',
    'requestheader-client-ca-file': pem('old-proxy'),
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-username-headers': '["X-Remote-User"]',
  });
  expect(await dataAfter(authentication('new', 'none', 'other'))).toMatchObject({
    'client-ca-file': pem('old') + pem('new'),
    'requestheader-allowed-names': '["front-proxy-client","other"]',
  });
  expect((await dataAfter(authentication('new', 'old')))?.['client-ca-file']).toBe(pem('new'));
  writer.writes.length = 0;
  await ensureClusterAuthentication(writer, authentication('new', 'old'));
  expect(writer.writes).toEqual([]);
});
