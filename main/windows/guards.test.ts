import { expect, test } from 'vitest';
import { isForwardedUrl } from './guards.ts';

test('only plain http on loopback is a forwarded port', () => {
  const yes = ['http://127.0.0.1:8080/', 'http://localhost:8080/path?x=1', 'http://[::1]:8080/'];
  const no = [
    'https://example.com/',
    'http://example.com/',
    'http://127.0.0.1.example.com/',
    'http://user:secret@127.0.0.1:8080/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'not a link',
  ];
  expect([...yes, ...no].filter(isForwardedUrl)).toEqual(yes);
});
