import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { parse } from 'yaml';
import { parseIpv4Range, type Ipv4Range } from '../../base/bind-rules.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { yamlFault } from '../../base/parse-fault.ts';
import { parseFlags, type FlagValues } from '../../base/flags.ts';
import { isJsonObject } from '../../api/meta/index.ts';
import type { ClaimRanges } from '../model/claims.ts';
import { PROXY_FLAGS } from './flags.ts';

export interface BindAddress {
  readonly host: string;
  readonly port: number;
}

export type ProxyMode = 'loopback' | 'nftables';

export interface ProxyConfig {
  readonly mode: ProxyMode;
  readonly kubeconfig: string;
  /** Empty: the kubeconfig's. */
  readonly master: string;
  readonly nodeNames: readonly string[];
  readonly healthz: BindAddress | undefined;
  readonly metrics: BindAddress | undefined;
  readonly connectionsMax: number;
  readonly claims: ClaimRanges;
  /** Made addresses of this machine while the proxy runs. */
  readonly localRanges: readonly Ipv4Range[];
  /** Empty: NetworkPolicies are none of its business. */
  readonly policyKubeconfig: string;
  /** Of pods; empty: endpoints may be anywhere. */
  readonly clusterRanges: readonly Ipv4Range[];
}

type Values = FlagValues<typeof PROXY_FLAGS>;

const bad = (message: string): never => {
  throw new ReasonError('BadConfiguration', message);
};

/** `127.0.0.1:10256`, or a port alone, or empty for none. */
const parseBind = (flagName: string, value: string, fallbackHost: string): BindAddress | undefined => {
  if (value === '') return undefined;
  const match = /^(?:(.*):)?(\d+)$/.exec(value);
  const host = match?.[1] === undefined || match[1] === '' ? fallbackHost : match[1].replace(/^\[|\]$/g, '');
  const port = Number(match?.[2]);
  if (!match || isIP(host) === 0 || port > 65_535)
    return bad(`--${flagName}: ${JSON.stringify(value)} must be an address and a port`);
  return { host, port };
};

const parseRanges = (flagName: string, texts: readonly string[]): readonly Ipv4Range[] =>
  texts
    .filter((text) => text !== '')
    .map(
      (text) =>
        parseIpv4Range(text) ??
        bad(`--${flagName}: ${JSON.stringify(text)} is no IPv4 range such as 127.20.8.0/21`),
    );

const FILE_KIND = 'KubeProxyConfiguration';
const FILE_VERSION = 'kubeproxy.config.k8s.io/v1alpha1';

/** The fields of a KubeProxyConfiguration that say something here, as the flags that mean the same. */
const flagsFromFile = (document: unknown, path: string): Partial<Values> => {
  if (!isJsonObject(document)) return bad(`--config: ${path} is no object`);
  if (document['kind'] !== FILE_KIND || document['apiVersion'] !== FILE_VERSION)
    return bad(`--config: ${path} is not a ${FILE_KIND} of ${FILE_VERSION}`);
  const textOf = (name: string, value: unknown): Record<string, string> => {
    if (value === undefined || value === null || value === '') return {};
    return typeof value === 'string' ? { [name]: value } : bad(`--config: ${path}: ${name} is no text`);
  };
  const textsOf = (name: string, value: unknown): readonly string[] | undefined => {
    if (value === undefined || value === null) return undefined;
    return Array.isArray(value) && value.every((one) => typeof one === 'string')
      ? value
      : bad(`--config: ${path}: ${name} is no list of texts`);
  };
  const connection = isJsonObject(document['clientConnection']) ? document['clientConnection'] : {};
  const mode = document['mode'];
  if (mode !== undefined && mode !== '' && mode !== 'loopback' && mode !== 'nftables')
    bad(`--config: ${path}: mode ${JSON.stringify(mode)} is not supported; known modes: loopback, nftables`);
  const override = textOf('hostnameOverride', document['hostnameOverride'])['hostnameOverride'];
  const addresses = textsOf('nodePortAddresses', document['nodePortAddresses']);
  return {
    ...(typeof mode === 'string' && mode !== '' && { 'proxy-mode': mode as ProxyMode }),
    ...textOf('kubeconfig', connection['kubeconfig']),
    ...textOf('bind-address', document['bindAddress']),
    ...textOf('cluster-cidr', document['clusterCIDR']),
    ...textOf('healthz-bind-address', document['healthzBindAddress']),
    ...textOf('metrics-bind-address', document['metricsBindAddress']),
    ...(override !== undefined && { 'hostname-override': override.split(',') }),
    ...(addresses !== undefined && { 'nodeport-addresses': addresses }),
  };
};

const readFileFlags = async (path: string): Promise<Partial<Values>> => {
  let text: string;
  let document: unknown;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new ReasonError('BadConfiguration', `--config: cannot read ${path}: ${messageOf(cause)}`, {
      cause,
    });
  }
  try {
    document = parse(text);
  } catch (error) {
    throw new ReasonError('BadConfiguration', `--config: ${path} is not valid YAML: ${yamlFault(error)}`);
  }
  return flagsFromFile(document, path);
};

const configOf = (values: Values): ProxyConfig => {
  if (values.kubeconfig === '' && values.master === '') bad('--kubeconfig must be given');
  const names = values['hostname-override'].filter((name) => name !== '');
  const bind = values['bind-address'];
  const localRanges = parseRanges('local-ranges', values['local-ranges']);
  const mode = values['proxy-mode'] === 'nftables' ? 'nftables' : 'loopback';
  if (mode === 'nftables')
    for (const name of ['local-ranges', 'external-ip-ranges'] as const)
      if (values[name].length > 0)
        bad(`--${name} cannot be combined with --proxy-mode nftables: rules of the kernel need no listeners`);
  return {
    mode,
    kubeconfig: values.kubeconfig,
    master: values.master,
    // As upstream: names of nodes are lower case and have no blanks around them.
    nodeNames: (names.length > 0 ? names : [hostname()]).map((name) => name.trim().toLowerCase()),
    healthz: parseBind('healthz-bind-address', values['healthz-bind-address'], bind),
    metrics: parseBind('metrics-bind-address', values['metrics-bind-address'], bind),
    connectionsMax: values['max-connections'],
    claims: {
      external: parseRanges('external-ip-ranges', values['external-ip-ranges']),
      nodePort: parseRanges('nodeport-addresses', values['nodeport-addresses']),
      cluster: localRanges,
    },
    localRanges,
    policyKubeconfig: values['network-policy-kubeconfig'],
    clusterRanges: parseRanges('cluster-cidr', values['cluster-cidr'].split(',')),
  };
};

/** Reads kube-proxy's command line. With --config the file says everything that a file can say, as upstream does. */
export const readProxyConfig = async (args: readonly string[]): Promise<ProxyConfig> => {
  const { values, positional } = parseFlags(PROXY_FLAGS, args);
  if (positional.length > 0) bad(`unexpected argument ${JSON.stringify(positional[0])}`);
  if (values.config === '') return configOf(values);
  const defaults = parseFlags(PROXY_FLAGS, []).values;
  const override = values['hostname-override'];
  return configOf({
    ...defaults,
    ...(await readFileFlags(values.config)),
    master: values.master,
    v: values.v,
    // No field of upstream's file says it.
    'external-ip-ranges': values['external-ip-ranges'],
    'local-ranges': values['local-ranges'],
    // The one flag that upstream lets win over the file: one file serves all nodes.
    ...(override.length > 0 && { 'hostname-override': override }),
  });
};
