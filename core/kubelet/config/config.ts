import { isIPv4 } from 'node:net';
import { hostname } from 'node:os';
import { parse } from 'yaml';
import { ReasonError } from '../../base/errors.ts';
import { parseFlags, type FlagValues } from '../../base/flags.ts';
import { yamlFault } from '../../base/parse-fault.ts';
import { isJsonObject } from '../../api/meta/index.ts';
import { KUBELET_FLAGS } from './flags.ts';

export interface KubeletConfig {
  readonly nodeName: string;
  /** Empty: the address that reaches the API server. */
  readonly nodeIP: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly kubeconfig: string;
  readonly bootstrapKubeconfig: string;
  readonly certDir: string;
  readonly rootDir: string;
  readonly podLogsDir: string;
  readonly manifests: string;
  readonly runtimeEndpoint: string;
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  readonly clientCaFile: string;
  readonly tlsCertFile: string;
  readonly tlsKeyFile: string;
  readonly rotatesServing: boolean;
  readonly podsMax: number;
  readonly port: number;
}

type Values = FlagValues<typeof KUBELET_FLAGS>;

const bad = (message: string): never => {
  throw new ReasonError('BadConfiguration', message);
};

const API_VERSION = 'kubelet.config.k8s.io/v1beta1';
const KIND = 'KubeletConfiguration';

/** Fields of the file and the flags that mean the same; others are refused by name. */
const FIELDS: Readonly<Record<string, keyof Values>> = {
  staticPodPath: 'pod-manifest-path',
  containerRuntimeEndpoint: 'container-runtime-endpoint',
  clusterDNS: 'cluster-dns',
  clusterDomain: 'cluster-domain',
  'authentication.x509.clientCAFile': 'client-ca-file',
  tlsCertFile: 'tls-cert-file',
  tlsPrivateKeyFile: 'tls-private-key-file',
  serverTLSBootstrap: 'rotate-server-certificates',
  maxPods: 'max-pods',
  port: 'port',
  podLogsDir: 'pod-logs-dir',
};

/** What this kubelet does anyway: another value would be believed and ignored. */
const FIXED: Readonly<Record<string, unknown>> = {
  rotateCertificates: true,
  cgroupDriver: 'cgroupfs',
  failSwapOn: false,
  'authentication.anonymous.enabled': false,
  'authentication.webhook.enabled': true,
  'authorization.mode': 'Webhook',
};

const leavesOf = (value: unknown, path: string): readonly (readonly [string, unknown])[] =>
  isJsonObject(value)
    ? Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, path === '' ? key : `${path}.${key}`))
    : [[path, value]];

const flagOf = (field: string, value: unknown, path: string): readonly string[] => {
  const name = FIELDS[field];
  if (name !== undefined) return [`--${name}=${Array.isArray(value) ? value.join(',') : String(value)}`];
  if (Object.hasOwn(FIXED, field) && FIXED[field] === value) return [];
  const known = Object.hasOwn(FIXED, field) ? `; only ${JSON.stringify(FIXED[field])} is supported` : '';
  return bad(`--config: ${path}: ${field}: ${JSON.stringify(value)} is not supported${known}`);
};

const argumentsOfFile = (content: string, path: string): readonly string[] => {
  let document: unknown;
  try {
    document = parse(content);
  } catch (error) {
    return bad(`--config: ${path} is not valid YAML: ${yamlFault(error)}`);
  }
  if (!isJsonObject(document) || document['kind'] !== KIND || document['apiVersion'] !== API_VERSION)
    return bad(`--config: ${path} is not a ${KIND} of ${API_VERSION}`);
  const { kind: _kind, apiVersion: _version, ...fields } = document;
  return leavesOf(fields, '').flatMap(([field, value]) =>
    value === null || value === '' ? [] : flagOf(field, value, path),
  );
};

const labelsOf = (texts: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf('=');
      return at > 0
        ? [text.slice(0, at), text.slice(at + 1)]
        : bad(`--node-labels: ${JSON.stringify(text)} must be key=value`);
    }),
  ) as Record<string, string>;

/** Reads the kubelet's command line; flags win over the fields of the file, as upstream. */
export const readKubeletConfig = (
  args: readonly string[],
  readFile: (path: string) => string,
): KubeletConfig => {
  const given = parseFlags(KUBELET_FLAGS, args);
  if (given.positional.length > 0) bad(`unexpected argument ${JSON.stringify(given.positional[0])}`);
  const file = given.values.config;
  const values =
    file === ''
      ? given.values
      : parseFlags(KUBELET_FLAGS, [...argumentsOfFile(readFile(file), file), ...args]).values;
  if (values.kubeconfig === '') bad('--kubeconfig must be given');
  const [cert, key] = [values['tls-cert-file'], values['tls-private-key-file']];
  if ((cert === '') !== (key === ''))
    bad('--tls-cert-file and --tls-private-key-file must be given together');
  const nodeIP = values['node-ip'];
  if (nodeIP !== '' && !isIPv4(nodeIP)) bad(`--node-ip: ${JSON.stringify(nodeIP)} must be an IPv4 address`);
  return {
    nodeName: (values['hostname-override'] || hostname()).trim().toLowerCase(),
    nodeIP,
    labels: labelsOf(values['node-labels']),
    kubeconfig: values.kubeconfig,
    bootstrapKubeconfig: values['bootstrap-kubeconfig'],
    certDir: values['cert-dir'],
    rootDir: values['root-dir'],
    podLogsDir: values['pod-logs-dir'] || '/var/log/pods',
    manifests: values['pod-manifest-path'],
    runtimeEndpoint: values['container-runtime-endpoint'] || 'unix:///run/containerd/containerd.sock',
    clusterDns: values['cluster-dns'],
    clusterDomain: values['cluster-domain'],
    clientCaFile: values['client-ca-file'],
    tlsCertFile: cert,
    tlsKeyFile: key,
    rotatesServing: values['rotate-server-certificates'],
    podsMax: values['max-pods'],
    port: values.port,
  };
};
