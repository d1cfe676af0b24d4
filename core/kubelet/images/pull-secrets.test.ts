import { expect, test } from 'vitest';
import type { V1Secret } from '../../api/schema/index.ts';
import { credentialsFor, repositoryOf } from './pull-secrets.ts';

const secret = (auths: unknown): V1Secret => ({
  type: 'kubernetes.io/dockerconfigjson',
  data: { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') },
});
const auth = (text: string): { auth: string } => ({ auth: Buffer.from(text).toString('base64') });

test.each([
  ['nginx', 'index.docker.io', 'library/nginx'],
  ['team/app:1', 'index.docker.io', 'team/app'],
  ['docker.io/team/app', 'index.docker.io', 'team/app'],
  ['registry.local:5000/a/b:2', 'registry.local:5000', 'a/b'],
  ['localhost/a@sha256:00', 'localhost', 'a'],
])('%s is in the repository %s/%s', (image, host, path) => {
  expect(repositoryOf(image)).toEqual({ host, path });
});

test('the most specific entry for the registry comes first, and others are not shown to it', () => {
  const secrets = [
    secret({
      'registry.local:5000': auth('all:1:2'),
      'registry.local:5000/team': { username: 'team', password: 'x' },
      'registry.local': auth('other:port'),
      'https://index.docker.io/v1/': auth('hub:3'),
      '*.example.com': auth('wild:4'),
    }),
  ];
  const names = (image: string): string[] =>
    credentialsFor(image, secrets).map(({ username, password }) => `${username}/${password}`);
  expect(names('registry.local:5000/team/app:1')).toEqual(['team/x', 'all/1:2']);
  expect(names('registry.local:5000/teams/app')).toEqual(['all/1:2']);
  expect(names('nginx')).toEqual(['hub/3']);
  expect(names('a.example.com/x')).toEqual(['wild/4']);
  expect(names('a.b.example.com/x')).toEqual([]);
});

test('a Secret that cannot be understood has no credentials', () => {
  const broken: V1Secret = {
    type: 'kubernetes.io/dockerconfigjson',
    data: { '.dockerconfigjson': 'bm90IEpTT04=' },
  };
  expect(credentialsFor('nginx', [broken, { type: 'Opaque' }, secret({ x: 1 })])).toEqual([]);
});
