import { connect, createServer, type ConnectionOptions, type TlsOptions } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import type { Clock } from '../base/clock.ts';
import { systemClock } from '../base/node/clock.ts';
import { alternativeNames } from './alternative-names.ts';
import type { Usage } from './extensions.ts';
import { createAuthority, issueLeaf, openAuthority, type Credential } from './issue.ts';
import type { KeyAlgorithm } from './keys.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const shifted = (byMs: number): Clock => ({ ...systemClock, nowMs: () => systemClock.nowMs() + byMs });

interface Outcome {
  /** `accepted`, or code and text of the error that each side saw. */
  readonly client: string;
  readonly server: string;
}

/** One handshake over loopback. The client sends a byte, because in TLS 1.3 the server speaks last. */
const handshake = (server: TlsOptions, client: ConnectionOptions): Promise<Outcome> =>
  new Promise((resolve) => {
    const outcome = { client: '', server: '' };
    const settle = (side: keyof Outcome, value: string): void => {
      outcome[side] ||= value;
      if (outcome.client && outcome.server) listener.close(() => resolve(outcome));
    };
    const codeOf = (error: Error): string =>
      `${(error as NodeJS.ErrnoException).code ?? ''} ${error.message}`;
    const listener = createServer({ ...server, rejectUnauthorized: true }, (socket) => {
      settle('server', 'accepted');
      socket.on('error', () => undefined);
      socket.end('.');
    });
    listener.on('tlsClientError', (error) => settle('server', codeOf(error)));
    listener.listen(0, '127.0.0.1', () => {
      const { port } = listener.address() as AddressInfo;
      const socket = connect({ host: '127.0.0.1', port, ...client });
      socket.on('data', () => settle('client', 'accepted'));
      socket.on('end', () => socket.end());
      socket.on('error', (error) => settle('client', codeOf(error)));
      socket.on('close', () => settle('client', 'closed'));
    });
  });

interface LeafOptions {
  readonly usages?: readonly Usage[];
  readonly clock?: Clock;
  readonly hosts?: readonly string[];
  readonly keyAlgorithm?: KeyAlgorithm;
}

const leafOf = (root: Credential, options: LeafOptions = {}): Credential => {
  const { usages = ['server', 'client'], clock = systemClock, hosts = ['127.0.0.1'], keyAlgorithm } = options;
  return issueLeaf(openAuthority(root), {
    subject: { commonName: 'x' },
    usages,
    alternativeNames: alternativeNames(hosts),
    clock,
    ...(keyAlgorithm && { keyAlgorithm }),
  });
};

const root = createAuthority({ commonName: 'root', clock: shifted(-400 * DAY_MS) });
const otherRoot = createAuthority({ commonName: 'root', clock: systemClock });

const tls = ({ certificatePem: cert, privateKeyPem: key }: Credential) => ({ cert, key });

/** A server and a client that trust `trust`, each with its leaf. */
const mutual = (server: Credential, client: Credential | undefined, trust: string): Promise<Outcome> =>
  handshake({ ...tls(server), ca: trust, requestCert: true }, { ...(client && tls(client)), ca: trust });

test.each(['ECDSA-P256', 'RSA-2048'] as const)(
  '%s: certificates of one authority accept each other',
  async (keyAlgorithm) => {
    const authority = createAuthority({ commonName: 'root', clock: systemClock, keyAlgorithm });
    const outcome = await mutual(
      leafOf(authority, { usages: ['server'], keyAlgorithm }),
      leafOf(authority, { usages: ['client'], keyAlgorithm }),
      authority.certificatePem,
    );
    expect(outcome).toEqual({ client: 'accepted', server: 'accepted' });
  },
);

test.each([
  [
    'of another authority with the same name',
    leafOf(otherRoot),
    'CERT_SIGNATURE_FAILURE|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|SELF_SIGNED',
  ],
  ['that has expired', leafOf(root, { clock: shifted(-370 * DAY_MS) }), 'CERT_HAS_EXPIRED'],
  ['that is not yet valid', leafOf(root, { clock: shifted(DAY_MS) }), 'CERT_NOT_YET_VALID'],
  ['for another host', leafOf(root, { hosts: ['10.0.0.1', 'example.com'] }), 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['for clients', leafOf(root, { usages: ['client'] }), 'INVALID_PURPOSE|UNSUPPORTED_CERTIFICATE'],
])('a server with a certificate %s is refused', async (_what, server, code) => {
  const { client } = await handshake(tls(server), { ca: root.certificatePem });
  expect(client).toMatch(new RegExp(code));
});

test.each([
  ['of another authority', leafOf(otherRoot)],
  ['that has expired', leafOf(root, { clock: shifted(-370 * DAY_MS) })],
  ['that is not yet valid', leafOf(root, { clock: shifted(DAY_MS) })],
  ['for servers', leafOf(root, { usages: ['server'] })],
  ['that signed itself', otherRoot],
  ['at all missing', undefined],
])('a client with a certificate %s is refused', async (_what, client) => {
  const { server } = await mutual(leafOf(root), client, root.certificatePem);
  expect(server).toMatch(/ERR_SSL|CERT|ECONNRESET|peer did not return/);
  expect(server).not.toBe('accepted');
});

test('during an overlap both authorities are trusted; dropped from the bundle, the old one is not', async () => {
  const old = leafOf(root);
  const fresh = leafOf(otherRoot);
  const bundle = root.certificatePem + otherRoot.certificatePem;
  expect([await mutual(old, fresh, bundle), await mutual(fresh, old, bundle)]).toEqual([
    { client: 'accepted', server: 'accepted' },
    { client: 'accepted', server: 'accepted' },
  ]);
  const { server } = await mutual(fresh, old, otherRoot.certificatePem);
  expect(server).not.toBe('accepted');
});

test('an authority for loopback names cannot vouch for others', async () => {
  const permittedNames = { dnsNames: ['localhost'], networks: ['127.0.0.0/8'] };
  const narrow = createAuthority({ commonName: 'narrow', clock: systemClock, permittedNames });
  const good = await handshake(tls(leafOf(narrow, { hosts: ['127.0.0.1', 'localhost'] })), {
    ca: narrow.certificatePem,
  });
  const bad = await handshake(tls(leafOf(narrow, { hosts: ['127.0.0.1', 'example.com'] })), {
    ca: narrow.certificatePem,
  });
  expect(good.client).toBe('accepted');
  expect(bad.client).toMatch(/permitted subtree violation/);
});
