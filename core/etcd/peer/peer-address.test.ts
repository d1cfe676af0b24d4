import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemClock } from '../../base/node/clock.ts';
import { alternativeNames, createAuthority, issueLeaf, openAuthority } from '../../pki/index.ts';
import { refuseAddress, type NameLookup } from './peer-address.ts';

const authority = openAuthority(createAuthority({ commonName: 'ca', clock: systemClock }));
const certificateFor = (...hosts: string[]): X509Certificate =>
  new X509Certificate(
    issueLeaf(authority, {
      subject: { commonName: 'peer' },
      usages: ['client'],
      alternativeNames: alternativeNames(hosts),
      clock: systemClock,
    }).certificatePem,
  );

const names: NameLookup = {
  reverse: (address) =>
    address === '10.0.0.7' ? Promise.resolve(['m7.etcd.local.']) : Promise.reject(new Error('ENOTFOUND')),
  addressesOf: (name) => Promise.resolve(name === 'm8.other' ? ['::ffff:10.0.0.8'] : []),
};

test.each([
  ['no name at all', [], '10.0.0.9', true],
  ['its address', ['10.0.0.9'], '::ffff:10.0.0.9', true],
  ['another address', ['10.0.0.1'], '10.0.0.9', false],
  ['a wildcard that the address resolves to', ['*.etcd.local'], '10.0.0.7', true],
  ['a name that resolves to the address', ['m8.other'], '10.0.0.8', true],
  ['a name of another', ['m9.other'], '10.0.0.8', false],
  ['another address and a name that resolves to it', ['10.0.0.1', 'm8.other'], '10.0.0.8', true],
])('a certificate with %s', async (_what, hosts, remote, isAccepted) => {
  expect((await refuseAddress(certificateFor(...hosts), remote, names)) === undefined).toBe(isAccepted);
});
