import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { systemClock } from '../../core/base/node/clock.ts';
import { alternativeNames, createAuthority, issueLeaf, openAuthority } from '../../core/pki/index.ts';

export const GROUP = 'wardle.example.com';
export const ROOT = `/apis/${GROUP}/v1alpha1`;

export interface ExtensionServer {
  readonly port: number;
  /** Base64 of the authority of its certificate. */
  readonly caBundle: string;
  /** Who asked for what, as the front proxy says. */
  readonly asked: { readonly url: string; readonly user: string }[];
  /** Sends an event to every watch. */
  tell(type: string, name: string): void;
  close(): Promise<void>;
}

const flunder = (name: string): object => ({
  apiVersion: `${GROUP}/v1alpha1`,
  kind: 'Flunder',
  metadata: { name, namespace: 'ext', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
});

const RESOURCES = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: `${GROUP}/v1alpha1`,
  resources: [
    {
      name: 'flunders',
      singularName: 'flunder',
      namespaced: true,
      kind: 'Flunder',
      shortNames: ['fl'],
      verbs: ['get', 'list', 'watch'],
    },
  ],
};

/** An API server of somebody else: HTTPS, for front proxies of the cluster alone. */
export const startExtensionServer = async (data: string, address: string): Promise<ExtensionServer> => {
  const authority = createAuthority({ commonName: 'extension', clock: systemClock });
  const leaf = issueLeaf(openAuthority(authority), {
    subject: { commonName: 'extension' },
    usages: ['server'],
    alternativeNames: alternativeNames(['wardle.ext.svc']),
    clock: systemClock,
  });
  const asked: { url: string; user: string }[] = [];
  const watches = new Set<ServerResponse>();
  const send = (response: ServerResponse, body: object): void => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? '/', 'https://extension');
    asked.push({ url: url.pathname, user: String(request.headers['x-remote-user']) });
    if (url.pathname === ROOT) return send(response, RESOURCES);
    if (url.pathname !== `${ROOT}/namespaces/ext/flunders`) {
      response.writeHead(404).end();
      return;
    }
    if (url.searchParams.get('watch') === null)
      return send(response, {
        apiVersion: `${GROUP}/v1alpha1`,
        kind: 'FlunderList',
        metadata: { resourceVersion: '1' },
        items: [flunder('one')],
      });
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    watches.add(response);
    response.once('close', () => watches.delete(response));
  };
  const server = createServer(
    {
      cert: leaf.certificatePem,
      key: leaf.privateKeyPem,
      ca: readFileSync(join(data, 'pki/front-proxy-ca.crt')),
      requestCert: true,
      rejectUnauthorized: true,
    },
    answer,
  );
  server.listen(0, address);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    caBundle: Buffer.from(authority.certificatePem).toString('base64'),
    asked,
    tell(type, name) {
      for (const watch of watches) watch.write(`${JSON.stringify({ type, object: flunder(name) })}\n`);
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
