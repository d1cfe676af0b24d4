import { expect, test } from 'vitest';
import { readApiServerConfig } from './config.ts';

const MINIMAL = [
  '--etcd-servers=https://127.0.0.1:2379,https://127.0.0.2:2379',
  '--tls-cert-file=/pki/apiserver.crt',
  '--tls-private-key-file=/pki/apiserver.key',
  '--client-ca-file=/pki/ca.crt',
  '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
  '--service-account-key-file=/pki/sa.pub',
  '--service-account-signing-key-file=/pki/sa.key',
];

test("kubeadm's command line is understood", () => {
  const config = readApiServerConfig([
    ...MINIMAL,
    '--advertise-address=127.9.0.1',
    '--allow-privileged=true',
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--etcd-cafile=/pki/etcd/ca.crt',
    '--etcd-certfile=/pki/apiserver-etcd-client.crt',
    '--etcd-keyfile=/pki/apiserver-etcd-client.key',
    '--kubelet-client-certificate=/pki/apiserver-kubelet-client.crt',
    '--kubelet-client-key=/pki/apiserver-kubelet-client.key',
    '--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname',
    '--proxy-client-cert-file=/pki/front-proxy-client.crt',
    '--proxy-client-key-file=/pki/front-proxy-client.key',
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-client-ca-file=/pki/front-proxy-ca.crt',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-username-headers=X-Remote-User',
    '--secure-port=6443',
    '--service-cluster-ip-range=10.96.0.0/12',
  ]);
  expect(config).toMatchObject({
    advertiseAddress: '127.9.0.1',
    securePort: 6443,
    minor: 36,
    etcd: { servers: ['https://127.0.0.1:2379', 'https://127.0.0.2:2379'] },
    authorization: { modes: ['Node', 'RBAC'] },
    anonymousAuth: false,
    nodePorts: { first: 30_000, last: 32_767 },
  });
});

test.each<[string, string[], string]>([
  ['missing values are named', ['--secure-port=1'], '--etcd-servers, --tls-cert-file'],
  ['a certificate needs its key', [...MINIMAL, '--etcd-certfile=/x'], '--etcd-certfile and --etcd-keyfile'],
  ['a release must be one we know', [...MINIMAL, '--emulated-version=1.20'], 'is not within 1.34 and 1.36'],
  ['a mode must be one we have', [...MINIMAL, '--authorization-mode=Nope'], 'is not a valid mode'],
  ['a webhook needs its file', [...MINIMAL, '--authorization-mode=Webhook'], 'must be given together'],
  [
    'authorizers are given by flags or by the file',
    [...MINIMAL, '--authorization-config=/f', '--authorization-mode=RBAC'],
    'authorization-config can not be specified when --authorization-mode is specified',
  ],
  ['a port range must be one', [...MINIMAL, '--service-node-port-range=9-1'], 'is not a range'],
  ['an unknown flag fails', [...MINIMAL, '--no-such-flag=x'], 'unknown flag: --no-such-flag'],
  ['an issuer needs a client', [...MINIMAL, '--oidc-issuer-url=https://x'], 'must be specified together'],
  [
    'an issuer is given by flags or by the file',
    [...MINIMAL, '--oidc-issuer-url=https://x', '--oidc-client-id=y', '--authentication-config=/f'],
    'mutually exclusive',
  ],
  [
    'a signature must be one we verify',
    [...MINIMAL, '--oidc-issuer-url=https://x', '--oidc-client-id=y', '--oidc-signing-algs=HS256'],
    'oidc: unsupported signing alg: "HS256"',
  ],
  ['keys are at an https URL', [...MINIMAL, '--service-account-jwks-uri=http://x'], 'requires https scheme'],
  ['an etcd URL must have a port', [...MINIMAL, '--etcd-servers=127.0.0.1'], 'is not a URL such as'],
])('%s', (_claim, args, message) => {
  expect(() => readApiServerConfig(args)).toThrow(message);
});

test.each([
  ['1.34', 34],
  ['kube=1.35', 35],
  ['v1.36.2', 36],
])('--emulated-version=%s is minor %i', (version, minor) => {
  expect(readApiServerConfig([...MINIMAL, `--emulated-version=${version}`]).minor).toBe(minor);
});
