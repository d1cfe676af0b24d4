import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { systemClock } from '../../../base/node/clock.ts';
import { alternativeNames, createAuthority, issueLeaf, openAuthority } from '../../../pki/index.ts';

/** What a test server does with a request whose body it has read. */
export type Respond = (
  body: string,
  response: ServerResponse,
  request: IncomingMessage,
) => Promise<void> | void;

export interface TestWebhook {
  readonly port: number;
  /** PEM in base64, as a client configuration has it. */
  readonly caBundle: string;
  /** `https://127.0.0.1:<port><path>` */
  url(path?: string): string;
  readonly connectionCount: () => number;
  /** Ends open connections, too. */
  close(): Promise<void>;
}

export interface TestWebhookOptions {
  readonly names?: readonly string[];
  readonly address?: string;
  /** Any free one without it. */
  readonly port?: number;
}

export const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** An authority that signed nothing that a test server shows. */
export const foreignCaBundle = (): string =>
  base64(createAuthority({ commonName: 'somebody else', clock: systemClock }).certificatePem);

/** A real HTTPS server with a certificate of its own authority. */
export const startTestWebhook = async (
  respond: Respond,
  { names = ['127.0.0.1'], address = '127.0.0.1', port: wanted = 0 }: TestWebhookOptions = {},
): Promise<TestWebhook> => {
  const root = createAuthority({ commonName: 'webhook authority', clock: systemClock });
  const leaf = issueLeaf(openAuthority(root), {
    subject: { commonName: 'webhook' },
    usages: ['server'],
    alternativeNames: alternativeNames(names),
    clock: systemClock,
  });
  let connections = 0;
  const server = createServer({ cert: leaf.certificatePem, key: leaf.privateKeyPem }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void Promise.resolve(respond(Buffer.concat(chunks).toString('utf8'), response, request)).catch(() =>
        response.destroy(),
      );
    });
  });
  server.on('secureConnection', () => (connections += 1));
  server.listen(wanted, address);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    caBundle: base64(root.certificatePem),
    url: (path = '/') => `https://${address}:${port}${path}`,
    connectionCount: () => connections,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
