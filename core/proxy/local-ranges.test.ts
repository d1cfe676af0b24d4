import { expect, test } from 'vitest';
import { parseIpv4Range } from '../base/bind-rules.ts';
import { clientsOfThisMachine } from './local-ranges.ts';

test('this machine and its pods are served, neighbours in the network are not', () => {
  const address = { address: '192.168.1.7' } as never;
  const ranges = ['10.20.64.0/18', '10.21.0.0/16'].map((text) => parseIpv4Range(text)!);
  const isClient = clientsOfThisMachine(ranges, () => ({ eth0: [address] }));
  expect(
    ['127.0.0.1', '10.21.3.4', '10.20.64.1', '192.168.1.7', '192.168.1.8', '10.22.0.1'].map(isClient),
  ).toEqual([true, true, true, true, false, false]);
});
