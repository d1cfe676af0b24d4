import { expect, test } from 'vitest';
import { manualClock } from '../../../../base/manual-clock.ts';
import type { KubernetesObject } from '../../../../api/meta/index.ts';
import type { V1PodSpec } from '../../../../api/schema/index.ts';
import { readerOf, verdict, wish } from '../../testing/fixtures.ts';
import { detailText, violationsOf } from './evaluate.ts';
import { podSecurity } from './pod-security.ts';
import { policyOf } from './policy.ts';

const MINOR = 36;
const HARDENED = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};
const container = (name: string, securityContext: object = {}, rest: object = {}): object => ({
  name,
  image: 'i',
  securityContext,
  ...rest,
});
const podOf = (...containers: readonly object[]): V1PodSpec => ({ containers }) as unknown as V1PodSpec;
const baseline = (
  spec: object,
  annotations: Record<string, string> = {},
  version: number | 'latest' = 'latest',
) =>
  detailText(
    violationsOf(
      { level: 'baseline', version },
      { metadata: { annotations }, spec: { containers: [], ...spec } as unknown as V1PodSpec },
      MINOR,
    ),
  );
const restricted = (spec: object, version: number | 'latest' = 'latest') =>
  detailText(
    violationsOf(
      { level: 'restricted', version },
      { metadata: {}, spec: { containers: [], ...spec } as unknown as V1PodSpec },
      MINOR,
    ),
  );

test.each<[string, object, string]>([
  ['nothing special', podOf(container('a')), ''],
  [
    'a privileged container',
    podOf(container('a', { privileged: true })),
    'privileged (container "a" must not set securityContext.privileged=true)',
  ],
  [
    'namespaces of the host',
    { hostNetwork: true, hostIPC: true },
    'host namespaces (hostNetwork=true, hostIPC=true)',
  ],
  [
    'capabilities',
    podOf(
      container('a', { capabilities: { add: ['SYS_ADMIN', 'CHOWN'] } }),
      container('b', { capabilities: { add: ['NET_RAW'] } }),
    ),
    'non-default capabilities (containers "a", "b" must not include "NET_RAW", "SYS_ADMIN" in securityContext.capabilities.add)',
  ],
  ['a host path', { volumes: [{ name: 'v', hostPath: { path: '/' } }] }, 'hostPath volumes (volume "v")'],
  [
    'a host port',
    podOf(container('a', {}, { ports: [{ containerPort: 1, hostPort: 80 }] })),
    'hostPort (container "a" uses hostPort 80)',
  ],
  [
    'a probe of another host',
    podOf(container('a', {}, { livenessProbe: { httpGet: { host: 'x' } } })),
    'probe or lifecycle host (container "a" uses probe or lifecycle host "x")',
  ],
  [
    'an unmasked proc',
    podOf(container('a', { procMount: 'Unmasked' })),
    'procMount (container "a" must not set securityContext.procMount to "Unmasked")',
  ],
  [
    'an unmasked proc in a user namespace',
    { ...podOf(container('a', { procMount: 'Unmasked' })), hostUsers: false },
    '',
  ],
  [
    'SELinux options',
    { securityContext: { seLinuxOptions: { type: 'x', user: 'u' } }, ...podOf(container('a')) },
    'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "x"; user may not be set)',
  ],
  [
    'seccomp turned off',
    podOf(container('a', { seccompProfile: { type: 'Unconfined' } })),
    'seccompProfile (container "a" must not set securityContext.seccompProfile.type to "Unconfined")',
  ],
  [
    'a sysctl',
    { securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } },
    'forbidden sysctls (kernel.msgmax)',
  ],
  [
    'a Windows host process',
    { securityContext: { windowsOptions: { hostProcess: true } } },
    'hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)',
  ],
  [
    'AppArmor turned off',
    podOf(container('a', { appArmorProfile: { type: 'Unconfined' } })),
    'forbidden AppArmor profile (container "a" must not set AppArmor profile type to "Unconfined")',
  ],
])('baseline and a pod with %s: %s', (_, spec, expected) => {
  expect(baseline(spec)).toBe(expected);
});

test('an older version has the rules of its time', () => {
  const probe = podOf(container('a', {}, { livenessProbe: { httpGet: { host: 'x' } } }));
  const sysctl = { securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem', value: '1' }] } };
  const annotation = { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' };
  expect([
    baseline(probe, {}, 33),
    baseline(sysctl, {}, 31),
    baseline(sysctl, {}, 99),
    baseline({}, annotation, 18),
    baseline({}, annotation, 19),
    restricted(podOf(container('a', { ...HARDENED, runAsUser: 0 })), 22),
  ]).toEqual([
    '',
    'forbidden sysctls (net.ipv4.tcp_rmem)',
    '',
    'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")',
    '',
    '',
  ]);
});

test.each<[string, object, string]>([
  ['a hardened container', podOf(container('a', HARDENED)), ''],
  [
    'nothing said',
    podOf(container('a')),
    'allowPrivilegeEscalation != false (container "a" must set securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "a" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or container "a" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container "a" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  ],
  [
    'a host path, said once',
    {
      ...podOf(container('a', HARDENED)),
      volumes: [
        { name: 'v', hostPath: {} },
        { name: 's', secret: {} },
      ],
    },
    'restricted volume types (volume "v" uses restricted volume type "hostPath")',
  ],
  [
    'root',
    podOf(container('a', { ...HARDENED, runAsUser: 0 })),
    'runAsUser=0 (container "a" must not set runAsUser=0)',
  ],
  [
    'root in a user namespace',
    { ...podOf(container('a', { ...HARDENED, runAsUser: 0 })), hostUsers: false },
    '',
  ],
  [
    'Windows, which has no such things',
    { ...podOf(container('a', { runAsNonRoot: true })), os: { name: 'windows' } },
    '',
  ],
])('restricted and a pod with %s: %s', (_, spec, expected) => {
  expect(restricted(spec)).toBe(expected);
});

const PREFIX = 'pod-security.kubernetes.io/';

test('labels that cannot be read enforce the strictest and warn of nothing', () => {
  const { policy, errors } = policyOf({ [`${PREFIX}enforce`]: 'x', [`${PREFIX}warn`]: 'y' });
  expect([policy.enforce.level, policy.warn.level, errors.length]).toEqual(['restricted', 'privileged', 2]);
});

test('a level that is enforced is also warned about, in its version', () => {
  const { policy } = policyOf({ [`${PREFIX}enforce`]: 'baseline', [`${PREFIX}enforce-version`]: 'v1.30' });
  expect(policy.warn).toEqual({ level: 'baseline', version: 30 });
});

const namespace = (labels: Record<string, string>): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'ns', labels },
});
const bad = podOf(container('a', { privileged: true }));
const pod = (name: string, spec: object): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', name },
  spec,
});
const pluginFor = (...objects: readonly KubernetesObject[]) =>
  podSecurity({ reader: readerOf(objects), clock: manualClock(), minor: MINOR });

test('a pod that violates the enforced level is rejected, one that violates the warned level gets a warning', async () => {
  const plugin = pluginFor(namespace({ [`${PREFIX}enforce`]: 'baseline', [`${PREFIX}warn`]: 'restricted' }));
  const allowed = wish({ object: pod('p', podOf(container('a', { ...HARDENED, runAsNonRoot: false }))) });
  expect([await verdict(plugin, wish({ object: pod('p', bad) })), await verdict(plugin, allowed)]).toEqual([
    'pods "p" is forbidden: violates PodSecurity "baseline:latest": privileged (container "a" must not set securityContext.privileged=true)',
    'ok',
  ]);
  expect(allowed.warnings).toEqual([
    'would violate PodSecurity "restricted:latest": runAsNonRoot != true (container "a" must not set securityContext.runAsNonRoot=false)',
  ]);
});

test('a deployment is warned of what its pods will be refused for', async () => {
  const plugin = pluginFor(namespace({ [`${PREFIX}enforce`]: 'baseline' }));
  const attributes = wish({
    of: 'deployments.apps',
    object: { metadata: { namespace: 'ns', name: 'd' }, spec: { template: { spec: bad } } },
  });
  expect([await verdict(plugin, attributes), attributes.warnings]).toEqual([
    'ok',
    [
      'would violate PodSecurity "baseline:latest": privileged (container "a" must not set securityContext.privileged=true)',
    ],
  ]);
});

test('an update that brings no image is let be', async () => {
  const plugin = pluginFor(namespace({ [`${PREFIX}enforce`]: 'baseline' }));
  const attributes = wish({ operation: 'UPDATE', object: pod('p', bad), oldObject: pod('p', bad) });
  expect(await verdict(plugin, attributes)).toBe('ok');
});

test('a namespace that gets stricter tells which of its pods would not pass', async () => {
  const plugin = pluginFor(pod('b', bad), pod('a', bad), pod('good', podOf(container('a'))));
  const attributes = wish({
    of: 'namespaces',
    operation: 'UPDATE',
    object: namespace({ [`${PREFIX}enforce`]: 'baseline' }),
    oldObject: namespace({}),
  });
  expect([await verdict(plugin, attributes), attributes.warnings]).toEqual([
    'ok',
    [
      'existing pods in namespace "ns" violate the new PodSecurity enforce level "baseline:latest"',
      'a (and 1 other pod): privileged',
    ],
  ]);
});

test('a namespace with labels that cannot be read is refused', async () => {
  const attributes = wish({ of: 'namespaces', object: namespace({ [`${PREFIX}enforce`]: 'none' }) });
  expect(await verdict(pluginFor(), attributes)).toBe(
    'Namespace "ns" is invalid: metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "none": must be one of privileged, baseline, restricted',
  );
});
