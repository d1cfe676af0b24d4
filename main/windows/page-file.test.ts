import { expect, test } from 'vitest';
import { pageFileFor } from './page-file.ts';

const at = (address: string) => pageFileFor('/app/renderer', address);

test('a file of the console is served with its type', () => {
  expect(at('pilothouse-app://console/assets/index-1.js')).toEqual({
    path: '/app/renderer/assets/index-1.js',
    contentType: 'text/javascript; charset=utf-8',
  });
});

test('the root and every route get the one page', () => {
  const page = { path: '/app/renderer/index.html', contentType: 'text/html; charset=utf-8' };
  expect([at('pilothouse-app://console/'), at('pilothouse-app://console/raft/members')]).toEqual([
    page,
    page,
  ]);
});

test('dots that the URL parser resolves never lead above the root', () => {
  expect(at('pilothouse-app://console/%2e%2e/../etc/passwd.json')?.path).toBe(
    '/app/renderer/etc/passwd.json',
  );
});

test.each([
  'pilothouse-app://console/..%2f..%2fetc/passwd.json',
  'pilothouse-app://console/assets/..%5c..%5csecret.json',
  'pilothouse-app://console/a%00.js',
  'pilothouse-app://console/%E0%A4%A.js',
  'pilothouse-app://console/settings.yaml',
  'pilothouse-app://elsewhere/index.html',
  'pilothouse-app://user@console/index.html',
  'file:///app/renderer/index.html',
  'not an address',
])('%s names no file', (address) => {
  expect(at(address)).toBeUndefined();
});
