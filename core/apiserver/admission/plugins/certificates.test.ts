import { expect, test } from 'vitest';
import { generateKeyPairSync } from 'node:crypto';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import { createRequest } from '../../../pki/index.ts';
import { userInfo } from '../../server/user.ts';
import { allow, noOpinion, type Authorizer } from '../../authz/authorizer.ts';
import { verdict, wish } from '../testing/fixtures.ts';
import { certificateApproval, certificateSigning, certificateSubjectRestriction } from './certificates.ts';

const OF = 'certificatesigningrequests.certificates.k8s.io';
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

const request = (signerName: string, organizations: string[] = [], status: object = {}): KubernetesObject => {
  const pem = createRequest(privateKey, { subject: { commonName: 'somebody', organizations } });
  return {
    metadata: { name: 'r' },
    spec: { signerName, request: Buffer.from(pem).toString('base64') },
    status,
  };
};
/** Anyone who is named after a signer may approve and sign for it. */
const bySigner: Authorizer = {
  authorize: ({ user, resource, name, apiGroup }) =>
    resource === 'signers' && apiGroup === 'certificates.k8s.io' && user.name === name
      ? allow()
      : noOpinion(),
};

test.each([
  ['x.io/signer', 'ok'],
  ['x.io/*', 'ok'],
  ['y.io/*', `${OF} "r" is forbidden: user not permitted to approve requests with signerName "x.io/signer"`],
])('%s approves a request to x.io/signer: %s', async (user, expected) => {
  const attributes = wish({
    of: OF,
    operation: 'UPDATE',
    subresource: 'approval',
    object: request('x.io/signer'),
    oldObject: request('x.io/signer'),
    user: userInfo(user),
  });
  expect(await verdict(certificateApproval(bySigner), attributes)).toBe(expected);
});

test('the right to sign is asked for when a certificate is put into the status', async () => {
  const ask = (user: string, status: object): Promise<string> =>
    verdict(
      certificateSigning(bySigner),
      wish({
        of: OF,
        operation: 'UPDATE',
        subresource: 'status',
        object: request('x.io/signer', [], status),
        oldObject: request('x.io/signer'),
        user: userInfo(user),
      }),
    );
  expect([
    await ask('x.io/signer', { certificate: 'abc' }),
    await ask('nobody', {}),
    await ask('nobody', { certificate: 'abc' }),
  ]).toEqual([
    'ok',
    'ok',
    `${OF} "r" is forbidden: user not permitted to sign requests with signerName "x.io/signer"`,
  ]);
});

test.each([
  ['kubernetes.io/kube-apiserver-client', ['dev'], 'ok'],
  ['x.io/signer', ['system:masters'], 'ok'],
  [
    'kubernetes.io/kube-apiserver-client',
    ['dev', 'system:masters'],
    `${OF} "r" is forbidden: use of kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed`,
  ],
])('%s for groups %j: %s', async (signer, groups, expected) => {
  const attributes = wish({ of: OF, object: request(signer, groups) });
  expect(await verdict(certificateSubjectRestriction(), attributes)).toBe(expected);
});
