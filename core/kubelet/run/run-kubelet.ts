import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { connect as connectSocket } from 'node:net';
import { totalmem } from 'node:os';
import { DisposableStore } from '../../base/disposable.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import { systemClock } from '../../base/node/clock.ts';
import { systemRandom } from '../../base/node/random.ts';
import { ApiEventRecorder, connect, InformerFactory, loadOwnKubeconfig } from '../../client/index.ts';
import { readKubeconfig, type Credential } from '../../pki/index.ts';
import {
  selfSigned,
  servedBefore,
  servingRotation,
  type ServingOptions,
} from '../certificates/serving-certificate.ts';
import { bootstrapIdentity, clientRotation } from '../certificates/tls-bootstrap.ts';
import type { KubeletConfig } from '../config/config.ts';
import { createKubeletHost } from '../kubelet-host.ts';
import { thisMachine } from '../node/machine.ts';
import { CriRuntime } from '../runtimes/cri/cri-runtime.ts';
import { apiAuth } from '../server/auth.ts';
import { KubeletServer } from '../server/kubelet-server.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const STOP_GRACE_SECONDS = 10;

export interface RunningKubelet {
  readonly nodeName: string;
  readonly nodeIP: string;
  /** Rejects when the kubelet must end on its own. */
  readonly failed: Promise<never>;
  /** Containers keep running. */
  close(): Promise<void>;
}

/** The address from which this machine reaches the API server: others reach the node by it, too. */
export const addressTowards = (server: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server);
    const socket = connectSocket({ host: hostname, port: Number(port || 443), timeout: CONNECT_TIMEOUT_MS });
    const fail = (why: string): void => {
      socket.destroy();
      reject(new ReasonError('Unreachable', `cannot reach the API server at ${server}: ${why}`));
    };
    socket.once('error', (error) => fail(messageOf(error)));
    socket.once('timeout', () => fail('it does not answer'));
    socket.once('connect', () => {
      const address = socket.localAddress ?? '';
      socket.destroy();
      resolve(address);
    });
  });

const servingOf = async (config: KubeletConfig, options: ServingOptions): Promise<Credential> => {
  const { tlsCertFile, tlsKeyFile } = config;
  if (tlsCertFile !== '')
    return {
      certificatePem: await readFile(tlsCertFile, 'utf8'),
      privateKeyPem: await readFile(tlsKeyFile, 'utf8'),
    };
  return (config.rotatesServing ? await servedBefore(options) : undefined) ?? selfSigned(options);
};

/** One kubelet alone, over this machine's clock, network and container runtime. */
export const runKubelet = async (
  config: KubeletConfig,
  { log, version }: { readonly log: Log; readonly version: string },
): Promise<RunningKubelet> => {
  const [clock, random] = [systemClock, systemRandom];
  const { nodeName, kubeconfig, bootstrapKubeconfig, rootDir, certDir } = config;
  const { signal } = new AbortController();
  await bootstrapIdentity({ nodeName, kubeconfig, bootstrapKubeconfig, clock, log, signal });
  const identity = readKubeconfig(await readFile(kubeconfig, 'utf8'), kubeconfig);
  const nodeIP = config.nodeIP || (await addressTowards(identity.server));
  const owned = new DisposableStore();
  const runtime = owned.add(
    await CriRuntime.connect({
      endpoint: config.runtimeEndpoint,
      nodeName,
      clusterId: createHash('sha256').update(identity.authorityPem).digest('hex').slice(0, 16),
      clock,
      log,
      root: rootDir,
      podLogs: config.podLogsDir,
      memoryCapacityBytes: totalmem(),
    }),
  );
  const registry = new Registry();
  const shape = { clock, random, log };
  const client = owned.add(
    connect(await loadOwnKubeconfig(kubeconfig), { ...shape, registry, userAgent: `kubelet/${version}` }),
  );
  const informers = owned.add(new InformerFactory({ client, ...shape, registry }));
  const events = new ApiEventRecorder({ client, ...shape, component: 'kubelet', host: nodeName });
  await mkdir(rootDir, { recursive: true, mode: 0o750 });
  const [dns] = config.clusterDns;
  const host = createKubeletHost({
    ...shape,
    registry,
    kubernetesVersion: version,
    nodes: [
      {
        identity: {
          name: nodeName,
          hostIP: nodeIP,
          labels: config.labels,
          kubeletPort: config.port,
          ...(await thisMachine(rootDir, { podsMax: config.podsMax })),
        },
        runtime,
        ...(config.manifests !== '' && { manifests: config.manifests }),
      },
    ],
    api: () => ({ client, informers }),
    events: () => events,
    ...(dns !== undefined && { clusterDns: { servers: config.clusterDns, domain: config.clusterDomain } }),
  });
  const clientCa =
    config.clientCaFile === '' ? identity.authorityPem : await readFile(config.clientCaFile, 'utf8');
  const serving = { certDir, nodeName, nodeIP, clock };
  const tlsOf = ({ certificatePem: cert, privateKeyPem: key }: Credential) => ({ cert, key, clientCa });
  const server = new KubeletServer({
    clock,
    log,
    registry,
    tls: tlsOf(await servingOf(config, serving)),
    // Events are limited by their source and object alone.
    eventRate: { qps: 0, burst: 0 },
    auth: () => apiAuth(client, clock),
    nodeAt: () => host.node(nodeName),
  });
  const close = async (): Promise<void> => {
    await Promise.all([server.close(), host.stop(STOP_GRACE_SECONDS)]);
    await informers.stop();
    await events.stop('now');
    owned.dispose();
  };
  try {
    await server.listen({ host: nodeIP, port: config.port });
  } catch (cause) {
    await close();
    const place = `${nodeIP}:${config.port}`;
    throw new ReasonError('CannotListen', `cannot listen on ${place}: ${messageOf(cause)}`, { cause });
  }
  await host.start();
  owned.add(clientRotation({ nodeName, kubeconfig, client, clock, log })).start();
  if (config.rotatesServing && config.tlsCertFile === '') {
    const use = (credential: Credential): void => server.setTls(tlsOf(credential));
    owned.add(servingRotation({ ...serving, log, client, use })).start();
  }
  return { nodeName, nodeIP, failed: new Promise<never>(() => undefined), close };
};
