import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { systemClock } from '../../base/node/clock.ts';
import { createAuthority, issueLeaf, openAuthority, type Credential } from '../../pki/index.ts';
import type { ApiServerConfig } from '../config/config.ts';
import { checkProxyClient, type LoadedCertificates } from './certificates.ts';

const folder = mkdtempSync(join(tmpdir(), 'proxy-client-'));
afterAll(() => rmSync(folder, { recursive: true }));

const authority = createAuthority({ commonName: 'front-proxy-ca', clock: systemClock });
const stranger = createAuthority({ commonName: 'front-proxy-ca', clock: systemClock });
const leafOf = (root: Credential): Credential =>
  issueLeaf(openAuthority(root), {
    subject: { commonName: 'front-proxy-client' },
    usages: ['client'],
    clock: systemClock,
  });

const check = async (
  { certificatePem, privateKeyPem }: Credential,
  allowedNames: readonly string[] = [],
): Promise<void> => {
  const [certFile, keyFile] = [join(folder, 'client.crt'), join(folder, 'client.key')];
  writeFileSync(certFile, certificatePem);
  writeFileSync(keyFile, privateKeyPem);
  const config = { aggregator: { certFile, keyFile }, frontProxy: { allowedNames } };
  await checkProxyClient(
    config as unknown as ApiServerConfig,
    { frontProxyCaPem: authority.certificatePem } as LoadedCertificates,
  );
};

test('a pair that aggregated servers would accept is accepted', async () => {
  await expect(check(leafOf(authority), ['front-proxy-client'])).resolves.toBeUndefined();
});

test('a pair that they would refuse is refused at the start', async () => {
  await expect(check(leafOf(stranger))).rejects.toThrow(
    'is not signed by an authority of --requestheader-client-ca-file',
  );
  await expect(check(leafOf(authority), ['other'])).rejects.toThrow(
    'is issued to "front-proxy-client", which --requestheader-allowed-names does not list',
  );
  const { privateKeyPem } = leafOf(authority);
  await expect(check({ ...leafOf(authority), privateKeyPem })).rejects.toThrow(
    'does not match the certificate',
  );
});
