import { expect, test } from 'vitest';
import {
  isForeignFetch,
  isOwnHost,
  isOwnOrigin,
  readCookie,
  sessionCookie,
  sessionCookieName,
  statusOfClientError,
} from './request-check.ts';

test('only loopback names with the very port are our host', () => {
  const hosts = [
    '127.0.0.1:8443',
    'localhost:8443',
    '127.0.0.1',
    '127.0.0.1:84430',
    'evil.example:8443',
    undefined,
  ];
  expect(hosts.map((host) => isOwnHost({ host }, 8443))).toEqual([true, true, false, false, false, false]);
});

test('an origin is ours if it is the page under the same name and port', () => {
  const host = '127.0.0.1:8443';
  const origins = [
    'https://127.0.0.1:8443',
    'https://localhost:8443',
    'http://127.0.0.1:8443',
    'null',
    undefined,
  ];
  expect(origins.map((origin) => isOwnOrigin({ host, ...(origin && { origin }) }))).toEqual([
    true,
    false,
    false,
    false,
    false,
  ]);
});

test('a fetch from another local port is foreign, a followed link is not', () => {
  expect([
    isForeignFetch({
      'sec-fetch-site': 'same-site',
      'sec-fetch-mode': 'no-cors',
      'sec-fetch-dest': 'script',
    }),
    isForeignFetch({
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'iframe',
    }),
    isForeignFetch({
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    }),
    isForeignFetch({ 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }),
    isForeignFetch({}),
  ]).toEqual([true, true, false, false, false]);
});

test('the cookie is bound to its host and port, and reads back among others', () => {
  const set = sessionCookie(8443, 's3cret');
  expect(set).toBe('__Host-pilothouse-8443=s3cret; Path=/; Secure; HttpOnly; SameSite=Strict');
  const cookie = `a=b; ${set.split(';')[0]} ; c=d=e`;
  expect(readCookie({ cookie }, sessionCookieName(8443))).toBe('s3cret');
  expect(readCookie({ cookie }, sessionCookieName(8444))).toBeUndefined();
  expect(readCookie({ cookie: `${cookie}; x=${'y'.repeat(9000)}` }, sessionCookieName(8443))).toBeUndefined();
});

test('an idle connection gets 408, so that the browser retries on another; malformed requests are rejected', () => {
  const late = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  const nonsense = Object.assign(new Error('Parse Error'), { code: 'HPE_INVALID_METHOD' });
  expect([late, nonsense].map(statusOfClientError)).toEqual(['408 Request Timeout', '400 Bad Request']);
});
