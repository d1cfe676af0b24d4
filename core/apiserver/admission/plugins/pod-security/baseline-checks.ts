import type { V1Container, V1SELinuxOptions } from '../../../../api/schema/index.ts';
import { goQuote } from '../../../../api/field/go-text.ts';
import {
  containersOf,
  containersText,
  hasUserNamespace,
  namesWhere,
  plural,
  quoted,
  settersText,
  sortedSet,
  type Check,
  type Subject,
  type Violation,
} from './check.ts';

const APP_ARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';
const SECCOMP_POD_ANNOTATION = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_CONTAINER_ANNOTATION = 'container.seccomp.security.alpha.kubernetes.io/';
const CAPABILITIES: ReadonlySet<string> = new Set([
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE'],
  ...['SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
]);
const SELINUX_TYPES = ['', 'container_t', 'container_init_t', 'container_kvm_t'];
const SYSCTLS = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
];
const SYSCTLS_27 = [...SYSCTLS, 'net.ipv4.ip_local_reserved_ports'];
const SYSCTLS_29 = [
  ...SYSCTLS_27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
];
const SYSCTLS_32 = [...SYSCTLS_29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem'];

/** A profile that keeps some confinement. */
export const isConfined = (type: string): boolean => type === 'RuntimeDefault' || type === 'Localhost';

const appArmor = (pod: Subject): Violation | undefined => {
  const podType = pod.spec.securityContext?.appArmorProfile?.type;
  const isBad = ({ securityContext }: V1Container): boolean =>
    securityContext?.appArmorProfile !== undefined && !isConfined(securityContext.appArmorProfile.type);
  const bad = namesWhere(pod, isBad);
  const podIsBad = podType !== undefined && !isConfined(podType);
  const annotations = Object.entries(pod.metadata.annotations ?? {})
    .filter(([key, value]) => {
      const isAllowed = value === '' || value === 'runtime/default' || value.startsWith('localhost/');
      return key.startsWith(APP_ARMOR_ANNOTATION) && !isAllowed;
    })
    .map(([key, value]) => `${key}=${goQuote(value)}`)
    .sort();
  const types = containersOf(pod)
    .filter(isBad)
    .map(({ securityContext }) => securityContext?.appArmorProfile?.type ?? '');
  const values = [...sortedSet([...(podIsBad ? [podType] : []), ...types]), ...annotations];
  const setters = [
    ...(podIsBad || bad.length > 0 ? [settersText(podIsBad, bad)] : []),
    ...(annotations.length > 0 ? [plural('annotation', annotations.length)] : []),
  ];
  if (setters.length === 0) return undefined;
  return {
    reason: plural('forbidden AppArmor profile', values.length),
    detail: `${setters.join(' and ')} must not set AppArmor profile type to ${quoted(values)}`,
  };
};

const capabilities = (pod: Subject): Violation | undefined => {
  const added = ({ securityContext }: V1Container): string[] =>
    (securityContext?.capabilities?.add ?? []).filter((one) => !CAPABILITIES.has(one));
  const bad = namesWhere(pod, (container) => added(container).length > 0);
  if (bad.length === 0) return undefined;
  const names = quoted(sortedSet(containersOf(pod).flatMap(added)));
  return {
    reason: 'non-default capabilities',
    detail: `${containersText(bad)} must not include ${names} in securityContext.capabilities.add`,
  };
};

const hostNamespaces = ({ spec }: Subject): Violation | undefined => {
  const set = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field] === true);
  return set.length === 0
    ? undefined
    : { reason: 'host namespaces', detail: set.map((field) => `${field}=true`).join(', ') };
};

const hostPathVolumes = ({ spec }: Subject): Violation | undefined => {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => name);
  return names.length === 0
    ? undefined
    : { reason: 'hostPath volumes', detail: `${plural('volume', names.length)} ${quoted(names)}` };
};

const hostPorts = (pod: Subject): Violation | undefined => {
  const portsOf = ({ ports }: V1Container): string[] =>
    (ports ?? []).flatMap(({ hostPort = 0 }) => (hostPort === 0 ? [] : [String(hostPort)]));
  const bad = namesWhere(pod, (container) => portsOf(container).length > 0);
  if (bad.length === 0) return undefined;
  const ports = sortedSet(containersOf(pod).flatMap(portsOf));
  const verb = bad.length === 1 ? 'uses' : 'use';
  return {
    reason: 'hostPort',
    detail: `${containersText(bad)} ${verb} ${plural('hostPort', ports.length)} ${ports.join(', ')}`,
  };
};

const hostsOf = ({ livenessProbe, readinessProbe, startupProbe, lifecycle }: V1Container): string[] =>
  [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop]
    .flatMap((handler) => [handler?.httpGet?.host ?? '', handler?.tcpSocket?.host ?? ''])
    .filter((host) => host !== '');

const probeHosts = (pod: Subject): Violation | undefined => {
  const bad = sortedSet(namesWhere(pod, (container) => hostsOf(container).length > 0));
  if (bad.length === 0) return undefined;
  const hosts = sortedSet(containersOf(pod).flatMap(hostsOf));
  const verb = bad.length === 1 ? 'uses' : 'use';
  return {
    reason: 'probe or lifecycle host',
    detail: `${containersText(bad)} ${verb} ${plural('probe or lifecycle host', hosts.length)} ${quoted(hosts)}`,
  };
};

const privileged = (pod: Subject): Violation | undefined => {
  const bad = namesWhere(pod, ({ securityContext }) => securityContext?.privileged === true);
  return bad.length === 0
    ? undefined
    : {
        reason: 'privileged',
        detail: `${containersText(bad)} must not set securityContext.privileged=true`,
      };
};

export const procMount = (pod: Subject): Violation | undefined => {
  const mountOf = ({ securityContext }: V1Container): string => securityContext?.procMount ?? 'Default';
  const bad = namesWhere(pod, (container) => mountOf(container) !== 'Default');
  if (bad.length === 0) return undefined;
  const types = sortedSet(containersOf(pod).map(mountOf)).filter((type) => type !== 'Default');
  return {
    reason: 'procMount',
    detail: `${containersText(bad)} must not set securityContext.procMount to ${quoted(types)}`,
  };
};

const seLinux =
  (allowed: readonly string[]) =>
  (pod: Subject): Violation | undefined => {
    const isBad = (options: V1SELinuxOptions | undefined): boolean =>
      options !== undefined && (!allowed.includes(options.type ?? '') || !!options.user || !!options.role);
    const podOptions = pod.spec.securityContext?.seLinuxOptions;
    const bad = namesWhere(pod, ({ securityContext }) => isBad(securityContext?.seLinuxOptions));
    if (!isBad(podOptions) && bad.length === 0) return undefined;
    const all = [podOptions, ...containersOf(pod).map((one) => one.securityContext?.seLinuxOptions)];
    const types = sortedSet(all.map((one) => one?.type ?? '')).filter((type) => !allowed.includes(type));
    const data = [
      ...(types.length > 0 ? [`${plural('type', types.length)} ${quoted(types)}`] : []),
      ...(all.some((one) => !!one?.user) ? ['user may not be set'] : []),
      ...(all.some((one) => !!one?.role) ? ['role may not be set'] : []),
    ];
    return {
      reason: 'seLinuxOptions',
      detail: `${settersText(isBad(podOptions), bad)} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}`,
    };
  };

const seccompAnnotations = (pod: Subject): Violation | undefined => {
  const keys = [
    SECCOMP_POD_ANNOTATION,
    ...containersOf(pod).map(({ name }) => `${SECCOMP_CONTAINER_ANNOTATION}${name}`),
  ];
  const bad = keys.flatMap((key) => {
    const value = pod.metadata.annotations?.[key];
    const isAllowed =
      value === undefined ||
      value === 'runtime/default' ||
      value === 'docker/default' ||
      value.startsWith('localhost/');
    return isAllowed ? [] : [`${key}=${goQuote(value)}`];
  });
  const found = sortedSet(bad);
  return found.length === 0
    ? undefined
    : {
        reason: 'seccompProfile',
        detail: `forbidden ${plural('annotation', found.length)} ${found.join(', ')}`,
      };
};

/** Profiles that are set and do not confine. */
export const seccompBaseline = (pod: Subject): Violation | undefined => {
  const podType = pod.spec.securityContext?.seccompProfile?.type;
  const podIsBad = podType !== undefined && !isConfined(podType);
  const badType = ({ securityContext }: V1Container): string[] => {
    const type = securityContext?.seccompProfile?.type;
    return type === undefined || isConfined(type) ? [] : [type];
  };
  const bad = namesWhere(pod, (container) => badType(container).length > 0);
  if (!podIsBad && bad.length === 0) return undefined;
  const values = sortedSet([...(podIsBad ? [podType] : []), ...containersOf(pod).flatMap(badType)]);
  return {
    reason: 'seccompProfile',
    detail: `${settersText(podIsBad, bad)} must not set securityContext.seccompProfile.type to ${quoted(values)}`,
  };
};

const sysctls =
  (allowed: readonly string[]) =>
  ({ spec }: Subject): Violation | undefined => {
    const names = (spec.securityContext?.sysctls ?? []).map(({ name }) => name);
    const bad = names.filter((name) => !allowed.includes(name));
    return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') };
  };

const hostProcess = (pod: Subject): Violation | undefined => {
  const byPod = pod.spec.securityContext?.windowsOptions?.hostProcess === true;
  const bad = namesWhere(pod, ({ securityContext }) => securityContext?.windowsOptions?.hostProcess === true);
  return !byPod && bad.length === 0
    ? undefined
    : {
        reason: 'hostProcess',
        detail: `${settersText(byPod, bad)} must not set securityContext.windowsOptions.hostProcess=true`,
      };
};

/** What no ordinary workload needs and what leads out of a container. By id, as messages list them. */
export const BASELINE_CHECKS: readonly Check[] = [
  { id: 'appArmorProfile', versions: [[0, appArmor]] },
  { id: 'capabilities_baseline', versions: [[0, capabilities]] },
  { id: 'hostNamespaces', versions: [[0, hostNamespaces]] },
  { id: 'hostPathVolumes', versions: [[0, hostPathVolumes]] },
  { id: 'hostPorts', versions: [[0, hostPorts]] },
  { id: 'hostProbesAndHostLifecycle', versions: [[34, probeHosts]] },
  { id: 'privileged', versions: [[0, privileged]] },
  {
    id: 'procMount',
    versions: [
      [0, procMount],
      [35, (pod) => (hasUserNamespace(pod) ? undefined : procMount(pod))],
    ],
  },
  {
    id: 'seLinuxOptions',
    versions: [
      [0, seLinux(SELINUX_TYPES)],
      [31, seLinux([...SELINUX_TYPES, 'container_engine_t'])],
    ],
  },
  {
    id: 'seccompProfile_baseline',
    versions: [
      [0, seccompAnnotations],
      [19, seccompBaseline],
    ],
  },
  {
    id: 'sysctls',
    versions: [
      [0, sysctls(SYSCTLS)],
      [27, sysctls(SYSCTLS_27)],
      [29, sysctls(SYSCTLS_29)],
      [32, sysctls(SYSCTLS_32)],
    ],
  },
  { id: 'windowsHostProcess', versions: [[0, hostProcess]] },
];
