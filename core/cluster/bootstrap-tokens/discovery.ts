import { timingSafeEqual } from 'node:crypto';
import { parse } from 'yaml';
import type { Clock } from '../../base/clock.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { silentLog } from '../../base/log.ts';
import { systemRandom } from '../../base/node/random.ts';
import { isNotFound } from '../../api/meta/status.ts';
import { connect, CONFIG_MAP, pause, type ClientConfig } from '../../client/index.ts';
import {
  CLUSTER_INFO,
  KUBECONFIG_KEY,
  SIGNATURE_PREFIX,
} from '../../controllers/bootstrap/bootstrap-signer.ts';
import { detachedSignature } from '../../controllers/bootstrap/detached-jws.ts';
import { authorityHashes } from './authority-hash.ts';
import type { BootstrapToken } from './bootstrap-token.ts';

const REQUEST_MS_MAX = 10_000;
const RETRY_MS = 1_000;
/** As kubeadm: a signature follows a new token within moments, a server that starts within minutes. */
const DISCOVERY_MS_MAX = 5 * 60_000;

export interface DiscoveryRequest {
  /** `10.0.0.1:6443` */
  readonly endpoint: string;
  readonly token: BootstrapToken;
  /** `sha256:...` of the authority's public key. */
  readonly hashes: readonly string[];
}

export interface DiscoveredCluster {
  /** As the cluster names itself, which may be another address than the one that was asked. */
  readonly server: string;
  readonly authorityPem: string;
}

/** Why a cluster is not the one that the token and the hash stand for: trying again brings nothing else. */
const untrusted = (why: string): ReasonError<'Untrusted'> => new ReasonError('Untrusted', why);

const readClusterInfo = async (
  config: Pick<ClientConfig, 'authority' | 'insecureSkipTlsVerify'>,
  endpoint: string,
  clock: Clock,
): Promise<Readonly<Record<string, string>>> => {
  const client = connect(
    {
      servers: [`https://${endpoint}`],
      auth: {},
      namespace: CLUSTER_INFO.namespace,
      proxyUrl: '',
      ...config,
    },
    { clock, random: systemRandom, log: silentLog, userAgent: 'pilothouse-join', timeoutMs: REQUEST_MS_MAX },
  );
  try {
    return (await client.resource(CONFIG_MAP, CLUSTER_INFO.namespace).get(CLUSTER_INFO.name)).data ?? {};
  } finally {
    client.dispose();
  }
};

/** The signed text; undefined where the token has not signed it yet. */
const verifiedKubeconfig = (
  data: Readonly<Record<string, string>>,
  { id, secret }: BootstrapToken,
): string | undefined => {
  const text = data[KUBECONFIG_KEY];
  const signature = data[`${SIGNATURE_PREFIX}${id}`];
  if (text === undefined || signature === undefined) return undefined;
  const expected = Buffer.from(detachedSignature(text, id, secret));
  const given = Buffer.from(signature);
  if (given.length !== expected.length || !timingSafeEqual(given, expected))
    throw untrusted(
      'cluster-info is not signed by this token, so this API server cannot be trusted; check --token and the address',
    );
  return text;
};

/** Reads what a cluster says of itself in cluster-info. A machine that joins verifies the signature first. */
export const clusterOf = (text: string): DiscoveredCluster => {
  const { clusters } = parse(text) as {
    clusters?: { cluster?: { server?: unknown; 'certificate-authority-data'?: unknown } }[];
  };
  const { server, 'certificate-authority-data': authority } = clusters?.[0]?.cluster ?? {};
  if (typeof server !== 'string' || typeof authority !== 'string')
    throw untrusted('cluster-info names no server and authority');
  return { server, authorityPem: Buffer.from(authority, 'base64').toString('utf8') };
};

const discoverOnce = async (
  { endpoint, token, hashes }: DiscoveryRequest,
  clock: Clock,
): Promise<DiscoveredCluster | undefined> => {
  const text = verifiedKubeconfig(
    await readClusterInfo({ insecureSkipTlsVerify: true }, endpoint, clock),
    token,
  );
  if (text === undefined) return undefined;
  const cluster = clusterOf(text);
  const found = authorityHashes(cluster.authorityPem);
  if (!found.some((hash) => hashes.includes(hash)))
    throw untrusted(
      `the authority of ${endpoint} has hash ${found.join(', ')}, which is not the one of --discovery-token-ca-cert-hash`,
    );
  // The first connection trusted anyone; this one trusts the pinned authority alone, and must say the same.
  const again = await readClusterInfo({ authority: { data: cluster.authorityPem } }, endpoint, clock);
  if (again[KUBECONFIG_KEY] !== text)
    throw untrusted('cluster-info changed while it was read over a verified connection; try again');
  return cluster;
};

/** Finds out whether the cluster at an address is the one that the token and the pinned authority stand for. */
export const discoverCluster = async (
  request: DiscoveryRequest,
  options: { readonly clock: Clock; readonly signal: AbortSignal; onRetry(why: string): void },
): Promise<DiscoveredCluster> => {
  const { clock, signal, onRetry } = options;
  const deadlineMs = clock.monotonicMs() + DISCOVERY_MS_MAX;
  let told = '';
  for (;;) {
    let why = `token ${request.token.id} has not signed cluster-info; it may be unknown to this cluster, or expired`;
    try {
      const found = await discoverOnce(request, clock);
      if (found) return found;
    } catch (error) {
      if (error instanceof ReasonError && error.reason === 'Untrusted') throw error;
      why = isNotFound(error)
        ? 'this cluster has no cluster-info; it does not take machines that join'
        : messageOf(error);
    }
    if (clock.monotonicMs() > deadlineMs)
      throw new ReasonError('Unreachable', `cannot discover the cluster at ${request.endpoint}: ${why}`);
    if (why !== told) onRetry(why);
    told = why;
    await pause(clock, RETRY_MS, signal);
  }
};
