import type { V1Pod, V1PodDNSConfigOption } from '../../api/schema/index.ts';

/** `--cluster-dns` and `--cluster-domain`. */
export interface ClusterDns {
  readonly servers: readonly string[];
  /** Empty: pods get no search paths of the cluster. */
  readonly domain: string;
}

/** What stands in a pod's `/etc/resolv.conf`: the CRI's DNSConfig. */
export interface PodDns {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

export interface FormedDns {
  readonly dns: PodDns;
  /** Upstream's events about the pod. */
  readonly warnings: readonly { readonly reason: string; readonly message: string }[];
}

const SERVERS_MAX = 3;
const SEARCHES_MAX = 32;
const SEARCH_CHARACTERS_MAX = 253;
const SEARCH_LINE_CHARACTERS_MAX = 2_048;
const CLUSTER_OPTIONS = ['ndots:5'];
/** A node here has no resolver of its own: as a kubelet with `--resolv-conf=""`. */
const HOST: PodDns = { servers: ['127.0.0.1'], searches: ['.'], options: [] };
const NONE: PodDns = { servers: [], searches: [], options: [] };

const unique = (texts: readonly string[]): string[] => [...new Set(texts)];

const optionName = (option: string): string => option.split(':')[0]!;
const optionText = ({ name = '', value }: V1PodDNSConfigOption): string =>
  value === undefined || value === '' ? name : `${name}:${value}`;

/** Options of the pod win over those of the same name. */
const mergeOptions = (before: readonly string[], own: readonly V1PodDNSConfigOption[]): readonly string[] => [
  ...new Map([...before, ...own.map(optionText)].map((option) => [optionName(option), option])).values(),
];

const cutSearches = (searches: readonly string[]): readonly string[] => {
  const kept = searches.slice(0, SEARCHES_MAX).filter((search) => search.length <= SEARCH_CHARACTERS_MAX);
  while (kept.join(' ').length > SEARCH_LINE_CHARACTERS_MAX) kept.pop();
  return kept;
};

const withinLimits = ({ servers, searches, options }: PodDns): FormedDns => {
  const warnings: { reason: string; message: string }[] = [];
  const keptServers = servers.slice(0, SERVERS_MAX);
  const keptSearches = cutSearches(searches);
  const warn = (message: string): void => void warnings.push({ reason: 'DNSConfigForming', message });
  if (keptServers.length < servers.length)
    warn(
      `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${keptServers.join(' ')}`,
    );
  if (keptSearches.length < searches.length)
    warn(
      `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${keptSearches.join(' ')}`,
    );
  return { dns: { servers: keptServers, searches: keptSearches, options }, warnings };
};

const isClusterFirst = ({ spec }: V1Pod): boolean =>
  spec?.dnsPolicy === 'ClusterFirstWithHostNet' ||
  ((spec?.dnsPolicy ?? 'ClusterFirst') === 'ClusterFirst' && spec?.hostNetwork !== true);

/** How a pod resolves names, as upstream's kubelet forms it from `dnsPolicy` and `dnsConfig`. */
export const podDns = (pod: V1Pod, cluster: ClusterDns | undefined): FormedDns => {
  const { spec, metadata } = pod;
  const warnings: { reason: string; message: string }[] = [];
  let base = spec?.dnsPolicy === 'None' ? NONE : HOST;
  if (isClusterFirst(pod)) {
    if (cluster && cluster.servers.length > 0) {
      const { servers, domain } = cluster;
      const searches =
        domain === '' ? [] : [`${metadata?.namespace ?? 'default'}.svc.${domain}`, `svc.${domain}`, domain];
      base = { servers, searches, options: CLUSTER_OPTIONS };
    } else
      warnings.push({
        reason: 'MissingClusterDNS',
        message: `pod: "${metadata?.name ?? ''}_${metadata?.namespace ?? ''}(${metadata?.uid ?? ''})". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.`,
      });
  }
  const own = spec?.dnsConfig;
  const formed = withinLimits(
    own
      ? {
          servers: unique([...base.servers, ...(own.nameservers ?? [])]),
          searches: unique([...base.searches, ...(own.searches ?? [])]),
          options: mergeOptions(base.options, own.options ?? []),
        }
      : base,
  );
  return { dns: formed.dns, warnings: [...warnings, ...formed.warnings] };
};

/** In the order in which container runtimes write it. */
export const resolvConf = ({ servers, searches, options }: PodDns): string =>
  [
    ...(searches.length > 0 ? [`search ${searches.join(' ')}`] : []),
    ...servers.map((server) => `nameserver ${server}`),
    ...(options.length > 0 ? [`options ${options.join(' ')}`] : []),
  ]
    .map((line) => `${line}\n`)
    .join('');
