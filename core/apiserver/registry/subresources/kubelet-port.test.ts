import { expect, test } from 'vitest';
import { splitProxyName } from './kubelet-port.ts';

test.each([
  ['a', { scheme: '', name: 'a', port: '' }],
  ['a:80', { scheme: '', name: 'a', port: '80' }],
  ['a:', { scheme: '', name: 'a', port: '' }],
  ['https:a:443', { scheme: 'https', name: 'a', port: '443' }],
  [':a:', { scheme: '', name: 'a', port: '' }],
  ['', undefined],
  [':', undefined],
  ['http::80', undefined],
  ['ftp:a:21', undefined],
  ['a:b:c:d', undefined],
])('%j names %j', (text, expected) => {
  expect(splitProxyName(text)).toEqual(expected);
});
