import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { SECRET } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { createAuthority } from '../../pki/index.ts';
import { defaultSpec, type ClusterConfig } from '../config/config.ts';
import { authorityHashes, parseAuthorityHash } from './authority-hash.ts';
import { newToken, parseToken, readTokenSecret, tokenIdOf, tokenSecret } from './bootstrap-token.ts';
import { joinConfigMaps } from './join-settings.ts';
import { createToken, deleteToken, listTokens } from './tokens.ts';

const HOUR_MS = 3_600_000;

test('a token is kept in a Secret as kubeadm writes it, and read back', () => {
  const token = {
    id: 'abcdef',
    secret: '0123456789abcdef',
    description: 'for the shed',
    usages: ['signing' as const],
    groups: ['system:bootstrappers:kubeadm:default-node-token'],
    expiresMs: Date.parse('2030-01-02T03:04:05Z'),
  };
  const secret = tokenSecret(token);
  const texts = Object.entries(secret.data ?? {}).map(([key, text]) => [
    key,
    Buffer.from(text, 'base64').toString(),
  ]);
  expect([secret.metadata?.name, secret.type, Object.fromEntries(texts)]).toEqual([
    'bootstrap-token-abcdef',
    'bootstrap.kubernetes.io/token',
    {
      'auth-extra-groups': 'system:bootstrappers:kubeadm:default-node-token',
      description: 'for the shed',
      expiration: '2030-01-02T03:04:05Z',
      'token-id': 'abcdef',
      'token-secret': '0123456789abcdef',
      'usage-bootstrap-signing': 'true',
    },
  ]);
  expect(readTokenSecret(secret)).toEqual(token);
  expect(readTokenSecret({ ...secret, type: 'Opaque' })).toBeUndefined();
});

test('a random token uses every character, and bytes that would favour some are left out', () => {
  const bytes = [255, 252, ...Array.from({ length: 22 }, (_, index) => index)];
  let at = 0;
  const { id, secret } = newToken((count) => Uint8Array.from(bytes.slice(at, (at += count))));
  expect([id, secret]).toEqual(['012345', '6789abcdefghijkl']);
  expect(parseToken(`${id}.${secret}`)).toEqual({ id, secret });
  expect(() => parseToken('abcdef.short')).toThrow('sixteen more');
  expect(() => parseToken('abcdef.short')).not.toThrow(/abcdef/);
  expect([tokenIdOf('abcdef'), tokenIdOf('abcdef.0123456789abcdef')]).toEqual(['abcdef', 'abcdef']);
});

test('tokens are created for a day, listed, not replaced, and deleted', async () => {
  const api = new FakeApi();
  const client = api.client();
  const nowMs = api.clock.nowMs();
  const token = { id: 'abcdef', secret: '0123456789abcdef' };
  await createToken(client, { token }, nowMs);
  await createToken(client, { ttlMs: 0, usages: ['signing'] }, nowMs);
  await expect(createToken(client, { token }, nowMs)).rejects.toThrow('exists already');
  await expect(createToken(client, { groups: ['system:masters'] }, nowMs)).rejects.toThrow(
    'must begin with system:bootstrappers:',
  );
  const listed = await listTokens(client);
  expect(listed.map(({ usages, groups, expiresMs }) => [usages, groups.length, expiresMs])).toEqual(
    expect.arrayContaining([
      [['signing', 'authentication'], 1, Math.floor((nowMs + 24 * HOUR_MS) / 1000) * 1000],
      [['signing'], 0, undefined],
    ]),
  );
  await deleteToken(client, 'abcdef');
  expect(api.list(SECRET)).toHaveLength(1);
  await expect(deleteToken(client, 'abcdef')).rejects.toThrow('token abcdef not found');
});

test('the hash of an authority is that of its public key, for each in a bundle', () => {
  const clock = manualClock();
  const [a, b] = [createAuthority({ commonName: 'a', clock }), createAuthority({ commonName: 'b', clock })];
  const hashes = authorityHashes(`${a.certificatePem}\n${b.certificatePem}`);
  expect(hashes).toHaveLength(2);
  expect(new Set(hashes).size).toBe(2);
  expect(parseAuthorityHash(hashes[0]!.toUpperCase().replace('SHA256', 'sha256'))).toBe(hashes[0]);
  expect(() => parseAuthorityHash(`sha256:${createHash('sha1').digest('hex')}`)).toThrow('64 hexadecimal');
});

test('machines that join get the advertised address, or loopback if there is none', () => {
  const config = (advertiseAddress?: string): ClusterConfig => ({
    apiVersion: 'pilothouse.dev/v1',
    kind: 'Cluster',
    metadata: { name: 'desk' },
    spec: { ...defaultSpec(40), ...(advertiseAddress !== undefined && { advertiseAddress }) },
  });
  const told = (of: ClusterConfig): string[] =>
    joinConfigMaps(of, 'PEM').flatMap(({ data }) =>
      Object.values(data ?? {}).flatMap((text) => text.match(/[\d.]+:6443/g) ?? []),
    );
  expect(new Set(told(config()))).toEqual(new Set(['127.40.0.100:6443']));
  expect(told(config('192.0.2.7'))).toEqual(['192.0.2.7:6443', '192.0.2.7:6443', '192.0.2.7:6443']);
});
