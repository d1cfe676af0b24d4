import { parse, stringify } from 'yaml';
import * as v from 'valibot';
import { say, SaidError, type Said } from '../../contract/index.ts';
import { schemaFault, yamlFault } from '../../base/parse-fault.ts';
import { NEWEST_MINOR, OLDEST_MINOR } from '../../api/releases/index.ts';
import { inIpv4Range, LOOPBACK, parseIpv4 } from '../../base/bind-rules.ts';
import { isNetwork, NETWORK_MAX, NETWORK_MIN } from './addresses.ts';

export const CLUSTER_API_VERSION = 'pilothouse.dev/v1';
export const CONTROL_PLANES_MAX = 7;
const WORKERS_MAX = 5000;

const versionPattern = /^v1\.(\d+)\.\d+$/;

const count = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));

const kubernetesVersion = v.pipe(
  v.string(),
  v.check((text) => {
    const minor = Number(versionPattern.exec(text)?.[1]);
    return minor >= OLDEST_MINOR && minor <= NEWEST_MINOR;
  }, `must be v1.${OLDEST_MINOR}.P to v1.${NEWEST_MINOR}.P`),
);

const ordinalList = v.pipe(
  v.array(count(1, CONTROL_PLANES_MAX)),
  v.minLength(1),
  v.check((list) => new Set(list).size === list.length, 'must not contain duplicates'),
);

const externalEtcd = v.strictObject({
  endpoints: v.pipe(v.array(v.pipe(v.string(), v.url())), v.minLength(1)),
  caFile: v.string(),
  certFile: v.string(),
  keyFile: v.string(),
});

const runtimeEndpoint = v.pipe(
  v.string(),
  v.check(
    (text) => /^unix:\/\/\/./.test(text),
    'must be a Unix socket such as unix:///run/containerd/containerd.sock',
  ),
);

const advertiseAddress = v.pipe(
  v.string(),
  v.check((text) => {
    const number = parseIpv4(text);
    return number !== undefined && number !== 0 && !inIpv4Range(LOOPBACK, text);
  }, 'must be one IPv4 address of this machine that others reach, such as 192.168.1.10'),
);

/** Strict: a field that nothing reads would be believed to work. */
const schema = v.strictObject({
  apiVersion: v.literal(CLUSTER_API_VERSION),
  kind: v.literal('Cluster'),
  metadata: v.strictObject({ name: v.pipe(v.string(), v.regex(/^[a-z0-9]([-a-z0-9]{0,40}[a-z0-9])?$/)) }),
  spec: v.strictObject({
    kubernetesVersion,
    /** `stacked`: a member on every control plane. `external`: members on hosts of their own, or not ours at all. */
    topology: v.picklist(['stacked', 'external']),
    controlPlanes: count(1, CONTROL_PLANES_MAX),
    etcdMembers: count(0, CONTROL_PLANES_MAX),
    /** Which of them there are, where one in the middle was removed: `[1, 3]` are cp-1 and cp-3. */
    controlPlaneOrdinals: v.optional(ordinalList),
    etcdOrdinals: v.optional(ordinalList),
    workers: count(0, WORKERS_MAX),
    network: v.pipe(
      v.number(),
      v.check(isNetwork, `must be an even number from ${NETWORK_MIN} to ${NETWORK_MAX}`),
    ),
    /** `cri`: real containers, on nodes that share this machine and its container runtime. */
    runtime: v.picklist(['simulated', 'cri']),
    /** With `cri`: where container runtimes listen; several are taken by the nodes in turn. */
    containerRuntimeEndpoints: v.optional(v.pipe(v.array(runtimeEndpoint), v.minLength(1))),
    /** Where other machines reach the API. Without it nothing listens beyond loopback. */
    advertiseAddress: v.optional(advertiseAddress),
    /** `drills`: a scratch cluster, which drills may break. Set when it is created and never later. */
    purpose: v.optional(v.picklist(['drills'])),
    externalEtcd: v.optional(externalEtcd),
  }),
});

/** A cluster as its `cluster.yaml` describes it. */
export type ClusterConfig = v.InferOutput<typeof schema>;
export type ClusterSpec = ClusterConfig['spec'];

export const minorOf = (kubernetesVersionText: string): number =>
  Number(versionPattern.exec(kubernetesVersionText)?.[1]);

export const defaultSpec = (network: number): ClusterSpec => ({
  kubernetesVersion: `v1.${NEWEST_MINOR}.0`,
  topology: 'stacked',
  controlPlanes: 3,
  etcdMembers: 3,
  workers: 2,
  network,
  runtime: 'simulated',
});

/** Debian's and upstream's default. */
const CONTAINERD = 'unix:///run/containerd/containerd.sock';

/** The container runtimes that the nodes of a cluster use; none where they are simulated. */
export const runtimeEndpointsOf = ({ runtime, containerRuntimeEndpoints }: ClusterSpec): readonly string[] =>
  runtime === 'cri' ? (containerRuntimeEndpoints ?? [CONTAINERD]) : [];

/** What a person should hear about a cluster that will run, but not as they may think. */
export const configWarnings = ({ spec }: ClusterConfig): readonly string[] => {
  const members = spec.topology === 'stacked' ? spec.controlPlanes : spec.etcdMembers;
  if (spec.externalEtcd || members % 2 === 1) return [];
  return [`${members} etcd members tolerate no more failures than ${members - 1}: use an odd number`];
};

const bad = (what: Said): SaidError<'BadConfiguration'> => new SaidError('BadConfiguration', what);

const ordinals = (name: string, count: string): Said =>
  say('configuration.ordinals', { ordinals: `spec.${name}`, count: `spec.${count}` });

const contradiction = ({ spec }: ClusterConfig): Said | undefined => {
  if (spec.runtime !== 'cri' && spec.containerRuntimeEndpoints) return say('configuration.noRuntime');
  // Drills break everything they reach, and run what strangers wrote.
  if (spec.purpose === 'drills' && (spec.runtime === 'cri' || spec.externalEtcd))
    return say('configuration.drills');
  if (spec.topology === 'stacked' && spec.externalEtcd) return say('configuration.stackedExternal');
  if (spec.topology === 'stacked' && spec.etcdMembers !== spec.controlPlanes)
    return say('configuration.stackedMembers');
  if (spec.topology === 'external' && !spec.externalEtcd && spec.etcdMembers === 0)
    return say('configuration.noMembers');
  if (spec.controlPlaneOrdinals && spec.controlPlaneOrdinals.length !== spec.controlPlanes)
    return ordinals('controlPlaneOrdinals', 'controlPlanes');
  if (spec.etcdOrdinals && spec.etcdOrdinals.length !== spec.etcdMembers)
    return ordinals('etcdOrdinals', 'etcdMembers');
  return undefined;
};

/** `from` names the file, for the message. */
export const parseClusterConfig = (text: string, from: string): ClusterConfig => {
  let document: unknown;
  try {
    document = parse(text);
  } catch (cause) {
    throw bad(say('configuration.yaml', { path: from, why: yamlFault(cause) }));
  }
  const result = v.safeParse(schema, document);
  if (!result.success) {
    throw bad(say('configuration.file', { path: from, why: schemaFault(result.issues) }));
  }
  const problem = contradiction(result.output);
  if (problem !== undefined) throw bad(say('configuration.file', { path: from, why: problem }));
  return result.output;
};

export const formatClusterConfig = (config: ClusterConfig): string => stringify(config, { lineWidth: 0 });
