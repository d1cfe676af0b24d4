import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { testAuthority } from '../../../client/testing/https-server.ts';
import { createHttpsGet } from './https-get.ts';

test('an issuer that takes a request and never answers is given up', async () => {
  const authority = testAuthority();
  const { certificatePem, privateKeyPem } = authority.server('127.0.0.1');
  const server = createServer({ cert: certificatePem, key: privateKeyPem }, () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const get = createHttpsGet({ certificateAuthority: authority.root.certificatePem, timeoutMs: 50 });
  const { port } = server.address() as AddressInfo;
  await expect(get(`https://127.0.0.1:${port}/keys`, new AbortController().signal)).rejects.toThrow(
    'no complete answer within 0.05 seconds',
  );
});
