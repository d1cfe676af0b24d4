import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inIpv4Range, LOOPBACK, parseIpv4Range } from '../../base/bind-rules.ts';
import type { Clock } from '../../base/clock.ts';
import { DisposableStore } from '../../base/disposable.ts';
import { ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { lockDirectory } from '../../base/node/directory-lock.ts';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import { systemRandom } from '../../base/node/random.ts';
import { isAlreadyExists, isConditionTrue } from '../../api/meta/index.ts';
import { connect, loadOwnKubeconfig, NODE, pause, type Client } from '../../client/index.ts';
import { addressTowards } from '../../kubelet/run/run-kubelet.ts';
import { takeRanges } from '../../proxy/local-ranges.ts';
import type { BootstrapToken } from '../bootstrap-tokens/bootstrap-token.ts';
import { discoverCluster } from '../bootstrap-tokens/discovery.ts';
import {
  clusterFile,
  kubeletKubeconfigFile,
  logsFolder,
  manifestsFolder,
  PRIVATE_FOLDER_MODE,
} from '../data-folder/layout.ts';
import type { HostStart, JoinedNetwork } from '../host/messages.ts';
import type { HostLauncher } from '../supervisor/host-launcher.ts';
import { fetchFacts, type ClusterFacts } from './cluster-facts.ts';
import { joinedFile, type JoinedState } from './joined-state.ts';
import { keepHost } from './keep-host.ts';
import { componentIdentities, hasNodeIdentity, signNodeIdentity, type AccessContext } from './node-access.ts';
import { NODE_DNS_ADDRESS, nodeManifests } from './node-manifests.ts';

const POLL_MS = 250;
/** For the controller-manager to give the node its range of pod addresses. */
const RANGE_MS_MAX = 60_000;

export interface JoinOptions {
  readonly data: string;
  /** Absent: the machine resumes what it has joined before. */
  readonly invitation?: {
    readonly endpoint: string;
    readonly token: BootstrapToken;
    readonly hashes: readonly string[];
  };
  readonly nodeName: string;
  /** Empty: the address from which this machine reaches the API server. */
  readonly nodeIP: string;
  readonly runtime: 'simulated' | 'cri';
  readonly runtimeEndpoint: string;
  readonly launch: HostLauncher;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** One line for each step. */
  tell(line: string): void;
}

const establish = async (options: JoinOptions): Promise<JoinedState> => {
  const { data, invitation, clock, signal, tell, runtime, runtimeEndpoint } = options;
  const before = await joinedFile.read(data);
  const nodeName = before?.nodeName ?? options.nodeName;
  const access: AccessContext = { ...options, nodeName };
  if (before && (await hasNodeIdentity(access))) {
    tell(`resuming node ${nodeName} of ${before.server}`);
    return before;
  }
  if (!invitation)
    throw new ReasonError(
      'NotJoined',
      `${data} has joined no cluster; give the address and the token that pilothouse token create --print-join-command prints`,
    );
  tell(`reading cluster-info from ${invitation.endpoint}`);
  const cluster = await discoverCluster(invitation, {
    clock,
    signal,
    onRetry: (why) => tell(`waiting: ${why}`),
  });
  // Over the address that was given: the one that the cluster names may mean another machine here.
  const server = `https://${invitation.endpoint}`;
  const nodeIP = options.nodeIP || (await addressTowards(server));
  tell(`the cluster is verified; asking for the certificate of node ${nodeName}`);
  await signNodeIdentity({ ...cluster, server }, invitation.token, access);
  const state: JoinedState = { nodeName, nodeIP, server, runtime, runtimeEndpoint };
  await joinedFile.write(data, state);
  return state;
};

/** The part of the pods' addresses that the cluster gives to this node, which is registered for it if it is new. */
const podRangeOf = async (client: Client, nodeName: string, options: JoinOptions): Promise<string> => {
  const { clock, signal } = options;
  const nodes = client.resource(NODE);
  const deadlineMs = clock.monotonicMs() + RANGE_MS_MAX;
  while (clock.monotonicMs() < deadlineMs) {
    const node = await nodes.find(nodeName);
    if (node?.spec?.podCIDR) return node.spec.podCIDR;
    if (!node)
      await nodes
        .create({ apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } })
        .catch((error: unknown) => {
          if (!isAlreadyExists(error)) throw error;
        });
    await pause(clock, POLL_MS, signal);
  }
  throw new ReasonError(
    'NoPodRange',
    `the cluster gave node ${nodeName} no range of pod addresses; its controller-manager needs --allocate-node-cidrs`,
  );
};

const networkFor = (facts: ClusterFacts, state: JoinedState, podCIDR: string): JoinedNetwork => {
  const isOtherMachine = !inIpv4Range(LOOPBACK, state.nodeIP);
  const isReal = state.runtime === 'cri';
  return {
    podCIDR,
    podRange: facts.podRange,
    serviceRange: facts.serviceRange,
    kubernetesService: facts.kubernetesService,
    dnsAddress: isOtherMachine && isReal ? NODE_DNS_ADDRESS : facts.dnsServiceAddress,
    clusterDomain: facts.clusterDomain,
    gateway: new URL(state.server).hostname,
    isRouted: isOtherMachine && isReal,
  };
};

const hostStart = (
  data: string,
  state: JoinedState,
  facts: ClusterFacts,
  joined: JoinedNetwork,
): HostStart => ({
  dataDirectory: data,
  host: {
    name: state.nodeName,
    role: 'workers',
    nodes: [{ name: state.nodeName, address: state.nodeIP }],
    etcd: undefined,
    address: state.nodeIP,
  },
  network: 0,
  runtime: state.runtime,
  machineNodes: 1,
  runtimeEndpoints: state.runtime === 'cri' ? [state.runtimeEndpoint] : [],
  kubernetesVersion: facts.kubernetesVersion,
  nodeVersions: {},
  firstNodeIndex: 0,
  nodeCount: 1,
  dnsServers: [inIpv4Range(LOOPBACK, state.nodeIP) ? facts.dnsServiceAddress : '127.0.0.1'],
  joined,
});

/** Services and names of a cluster on this machine are served already where its own kube-proxy runs here. */
const writeManifests = async (
  data: string,
  state: JoinedState,
  facts: ClusterFacts,
  network: JoinedNetwork,
) => {
  const folder = manifestsFolder(data, state.nodeName);
  await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER_MODE });
  await mkdir(logsFolder(data, state.nodeName), { recursive: true, mode: PRIVATE_FOLDER_MODE });
  if (inIpv4Range(LOOPBACK, state.nodeIP)) return;
  const { nodeName, runtime } = state;
  const version = facts.kubernetesVersion;
  for (const [file, text] of nodeManifests({ nodeName, version, runtime, network }))
    if ((await readFile(join(folder, file), 'utf8').catch(() => '')) !== text)
      await writeFileAtomically(join(folder, file), text);
};

const untilReady = async (client: Client, { nodeName }: JoinedState, options: JoinOptions): Promise<void> => {
  const { clock, signal } = options;
  for (;;) {
    const node = await client
      .resource(NODE)
      .find(nodeName)
      .catch(() => undefined);
    if (isConditionTrue(node?.status?.conditions, 'Ready')) return;
    await pause(clock, POLL_MS, signal);
  }
};

/** Runs this machine as a node until the signal. Containers of a real runtime continue when it ends. */
export const joinMachine = async (options: JoinOptions): Promise<void> => {
  const { data, clock, log, signal, tell } = options;
  if (existsSync(clusterFile(data)))
    throw new ReasonError(
      'BadDirectory',
      `${data} holds a cluster of its own; choose another directory for this node with --data`,
    );
  const owned = new DisposableStore();
  owned.add(await lockDirectory(data));
  try {
    const state = await establish(options);
    const config = await loadOwnKubeconfig(kubeletKubeconfigFile(data, state.nodeName));
    const client = owned.add(
      connect(config, { clock, random: systemRandom, log, userAgent: 'pilothouse-join' }),
    );
    const facts = await fetchFacts(client);
    owned.add(await componentIdentities(client, { data, nodeName: state.nodeName, clock, log, signal }));
    const podCIDR = await podRangeOf(client, state.nodeName, options);
    const network = networkFor(facts, state, podCIDR);
    if (state.runtime === 'simulated' && !inIpv4Range(LOOPBACK, state.nodeIP))
      tell('warning: containers of this node are simulated; its pods cannot be reached from other machines');
    await writeManifests(data, state, facts, network);
    const giveBack = network.isRouted ? await takeRanges([parseIpv4Range(NODE_DNS_ADDRESS)!]) : undefined;
    const host = keepHost({
      ...options,
      name: state.nodeName,
      start: hostStart(data, state, facts, network),
      onExit: (why) => tell(`the node's process exited: ${why}; restarting it`),
    });
    try {
      await Promise.race([
        untilReady(client, state, options).then(() =>
          tell(`node ${state.nodeName} is ready: pods ${podCIDR}, address ${state.nodeIP}`),
        ),
        host.failed,
      ]);
      await Promise.race([
        host.failed,
        new Promise<void>((resolve) => {
          if (signal.aborted) resolve();
          else signal.addEventListener('abort', () => resolve(), { once: true });
        }),
      ]);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await host.stop();
      await giveBack?.();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    owned.dispose();
  }
};
