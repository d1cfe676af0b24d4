import { expect, test } from 'vitest';
import { escapePath, proxiedPath, rewriteLocation } from './proxy-path.ts';

test.each([
  ['/healthz', '/x?a=%20b&c', '/healthz?a=%20b&c'],
  ['', '/x', ''],
  ['/', '/x', '/'],
  ['/a//b/', '/x', '/a/b/'],
  ['/a/../../run/x', '/x', '/run/x'],
  ['/a b?c#d%e', '/x', '/a%20b%3Fc%23d%25e'],
  ["/é!'()*[]", '/x', '/%C3%A9%21%27%28%29%2A%5B%5D'],
  ['/a@b:c;d,e+f=g&h$i', '/x', '/a@b:c;d,e+f=g&h$i'],
])('the subpath %j of %j is asked for as %j', (subpath, url, asked) => {
  expect(proxiedPath(subpath, url)).toBe(asked);
});

test.each([
  ['/ok HTTP/1.1\r\nHost: x\r\n\r\nPOST /run/a', '/x'],
  ['/a\nb', '/x'],
  ['/a\0', '/x'],
  ['/a\x7f', '/x'],
  ['/a', '/x?b\r\nc'],
])('control characters are refused: %j %j', (subpath, url) => {
  expect(() => proxiedPath(subpath, url)).toThrow('must not contain control characters');
});

test('no escaped path holds what ends a request line', () => {
  const every = Array.from({ length: 0x180 }, (_, code) => String.fromCharCode(code)).join('');
  expect(escapePath(every)).toMatch(/^[A-Za-z0-9\-_.~$&+,/:;=@%]+$/);
});

const context = {
  prefix: '/api/v1/namespaces/a/pods/b/proxy',
  backendHost: '10.0.0.1:80',
  requestHost: 'api:6443',
};
test.each([
  ['/login', '/api/v1/namespaces/a/pods/b/proxy/login'],
  ['/', '/api/v1/namespaces/a/pods/b/proxy/'],
  ['/dir/?q=/x#f', '/api/v1/namespaces/a/pods/b/proxy/dir/?q=/x#f'],
  ['/api/v1/namespaces/a/pods/b/proxy/x', '/api/v1/namespaces/a/pods/b/proxy/x'],
  ['login', 'login'],
  ['http://10.0.0.1:80/x', '/api/v1/namespaces/a/pods/b/proxy/x'],
  ['https://api:6443/x', 'https://api:6443/api/v1/namespaces/a/pods/b/proxy/x'],
  ['https://example.com/x', 'https://example.com/x'],
  ['//example.com/x', '//example.com/x'],
])('a redirect to %s leads to %s', (location, expected) => {
  expect(rewriteLocation(location, context)).toBe(expected);
});
