// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import { childOf, crumbsOf, localName, placesOf, typedPath } from './paths.ts';

test('paths lead to folders and back', () => {
  expect(crumbsOf('/var/lib')).toEqual([
    { name: '/', path: '/' },
    { name: 'var', path: '/var' },
    { name: 'lib', path: '/var/lib' },
  ]);
  expect([childOf('/', 'a b'), childOf('/var', 'x')]).toEqual(['/a b', '/var/x']);
  expect(['var//log/', '../../etc', '/a/./b/../c', ' '].map(typedPath)).toEqual([
    '/var/log',
    '/etc',
    '/a/c',
    '/',
  ]);
});

test('a name of a container becomes one of this disk', () => {
  expect(localName('a/b\n..:x', false)).toBe('a_b_..-x'.replace('-', '_'));
  expect(localName('logs', true)).toBe('logs.tar');
});

test('a container starts in its working directory and has the volumes of its own', () => {
  const pod = {
    spec: {
      containers: [
        { name: 'a', workingDir: '/app', volumeMounts: [{ mountPath: '/data' }, { mountPath: '/data' }] },
        { name: 'b' },
      ],
    },
  };
  expect(placesOf(pod, 'a')).toEqual({ start: '/app', mounts: ['/data'] });
  expect(placesOf(pod, 'b')).toEqual({ start: '/', mounts: [] });
});
