import type { V1Pod } from '../../api/schema/index.ts';

const HOSTNAME_CHARACTERS_MAX = 63;

/** The names of a pod: `hostname`, and `hostname.subdomain.namespace.svc.domain` where it has a subdomain. */
export const podNames = (
  { metadata, spec }: V1Pod,
  clusterDomain: string,
): { readonly hostname: string; readonly fullName: string | undefined } => {
  const hostname = (spec?.hostname || (metadata?.name ?? ''))
    .slice(0, HOSTNAME_CHARACTERS_MAX)
    .replace(/[-.]+$/, '');
  const { subdomain } = spec ?? {};
  const namespace = metadata?.namespace ?? 'default';
  return {
    hostname,
    fullName:
      subdomain === undefined || subdomain === '' || clusterDomain === ''
        ? undefined
        : `${hostname}.${subdomain}.${namespace}.svc.${clusterDomain}`,
  };
};

const ALWAYS = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
];

/** The `/etc/hosts` that the kubelet manages, as upstream writes it. */
export const hostsFile = (pod: V1Pod, podIP: string, clusterDomain: string): string => {
  const { hostname, fullName } = podNames(pod, clusterDomain);
  const isHostNetwork = pod.spec?.hostNetwork === true;
  const aliases = (pod.spec?.hostAliases ?? []).map(({ ip, hostnames }) =>
    [ip, ...(hostnames ?? [])].join('\t'),
  );
  return [
    `# Kubernetes-managed hosts file${isHostNetwork ? ' (host network)' : ''}.`,
    ...ALWAYS,
    [podIP, ...(fullName === undefined ? [] : [fullName]), hostname].join('\t'),
    ...(aliases.length > 0 ? ['', '# Entries added by HostAliases.', ...aliases] : []),
  ]
    .map((line) => `${line}\n`)
    .join('');
};
