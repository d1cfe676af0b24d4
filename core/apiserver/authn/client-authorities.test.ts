import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { createAuthority, issueLeaf, openAuthority, type Credential } from '../../pki/index.ts';
import type { Peer } from '../server/request.ts';
import { RequestHeaders } from '../server/headers.ts';
import { ClientAuthorities } from './client-authorities.ts';
import { x509Authenticator } from './x509.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const clock = manualClock();
const root = createAuthority({ commonName: 'kubernetes', clock });
const namesake = createAuthority({ commonName: 'kubernetes', clock });

const peerWith = (credential: Credential, verified = true): Peer => {
  const certificate = new X509Certificate(credential.certificatePem);
  return { address: '', port: 0, verified, certificate: () => certificate, recognized: () => undefined };
};
const leaf = (of: Credential, usage: 'client' | 'server' = 'client'): Credential =>
  issueLeaf(openAuthority(of), {
    subject: { commonName: 'jane', organizations: ['dev', 'ops'] },
    usages: [usage],
    clock,
    validityMs: 30 * DAY_MS,
  });
const authenticate = (authorities: ClientAuthorities, peer: Peer) =>
  x509Authenticator(authorities).authenticate({ headers: new RequestHeaders(), peer, path: '/' });

test('a certificate of the bundle is a user with groups', () => {
  const peer = peerWith(leaf(root));
  const fingerprint = peer.certificate()!.fingerprint256.replaceAll(':', '').toLowerCase();
  expect(authenticate(new ClientAuthorities(root.certificatePem, clock), peer)).toEqual({
    name: 'jane',
    uid: '',
    groups: ['dev', 'ops'],
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] },
  });
});

test.each([
  ['of an authority with the same name', peerWith(leaf(namesake))],
  ['that the handshake did not verify', peerWith(leaf(root), false)],
  ['for servers', peerWith(leaf(root, 'server'))],
])('a certificate %s is refused', (_what, peer) => {
  expect(() => authenticate(new ClientAuthorities(root.certificatePem, clock), peer)).toThrow(
    'not signed by a trusted',
  );
});

test('a connection that stays open loses its identity with its authority, or with time', () => {
  const now = manualClock(clock.nowMs());
  const authorities = new ClientAuthorities(root.certificatePem + namesake.certificatePem, now);
  const peer = peerWith(leaf(root));
  expect(authorities.verified(peer)).toBeDefined();
  authorities.setBundle(namesake.certificatePem);
  expect(authorities.verified(peer)).toBeUndefined();
  authorities.setBundle(root.certificatePem);
  expect(authorities.verified(peer)).toBeDefined();
  now.advance(31 * DAY_MS);
  expect(authorities.verified(peer)).toBeUndefined();
});
