import { expect, test } from 'vitest';
import { joinedSince, openLine } from './joining.ts';

test('nodes that come after the token are shown with how far they are', () => {
  const node = (name: string, isReady: boolean, hasReported: boolean) => ({ name, isReady, hasReported });
  const nodes = [
    node('old', true, true),
    node('new', false, false),
    node('shed', false, true),
    node('attic', true, true),
  ];
  const view = { endpoint: '192.0.2.1:6443', isLoopback: false, addresses: [], nodes };
  expect(joinedSince(view, ['old']).map(({ name, step }) => [name, step])).toEqual([
    ['new', 'registered'],
    ['shed', 'starting'],
    ['attic', 'ready'],
  ]);
});

test('the command that opens a cluster names an address of this machine', () => {
  expect(openLine('/data/my desk', ['192.0.2.1', '192.0.2.9'])).toBe(
    "pilothouse up --data '/data/my desk' --advertise-address 192.0.2.1",
  );
  expect(openLine('/data', [])).toContain('--advertise-address ADDRESS');
});
