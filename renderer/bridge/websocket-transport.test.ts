import { expect, test } from 'vitest';
import { contractUrl } from './websocket-transport.ts';

test('the contract is at the origin of the page, encrypted where the page is', () => {
  expect(contractUrl({ protocol: 'https:', host: '127.0.0.1:8443' })).toBe('wss://127.0.0.1:8443/contract');
  expect(contractUrl({ protocol: 'http:', host: 'localhost:5173' })).toBe('ws://localhost:5173/contract');
});
