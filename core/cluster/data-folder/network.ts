import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { inIpv4Range, parseIpv4Range } from '../../base/bind-rules.ts';
import { say, SaidError, type Said } from '../../contract/index.ts';
import {
  controlPlaneAddress,
  loadBalancerAddress,
  NETWORK_MAX,
  NETWORK_MIN,
  podRange,
  serviceRange,
  type AddressPlan,
  type PodAddressPlan,
} from '../config/addresses.ts';
import { PORTS } from '../manifests/control-plane.ts';

export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/** Undefined when the address can be listened on now; else the system's code for why not. */
export const whyNotFree = ({ address, port }: Endpoint): Promise<string | undefined> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host: address, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });

/** Of the bridge that real pods are on. */
export const podBridge = ({ network }: AddressPlan): string => `ph-${network}`;

/** An address of this machine, of another interface than ours, where real pods or their services have theirs. */
export const foreignAddress = (
  plan: PodAddressPlan,
  interfaces: typeof networkInterfaces = networkInterfaces,
): string | undefined => {
  const ranges = [serviceRange(plan), podRange(plan)].map((text) => parseIpv4Range(text)!);
  return Object.entries(interfaces())
    .filter(([name]) => name !== podBridge(plan))
    .flatMap(([, addresses]) => addresses ?? [])
    .map(({ address }) => address)
    .find((address) => ranges.some((range) => inIpv4Range(range, address)));
};

const probes = (network: number): readonly Endpoint[] => [
  { address: loadBalancerAddress({ network }), port: PORTS.apiServer },
  { address: controlPlaneAddress({ network }, 1), port: PORTS.apiServer },
  { address: controlPlaneAddress({ network }, 1), port: PORTS.etcdClient },
];

const isFree = async (network: number): Promise<boolean> => {
  if (foreignAddress({ network, runtime: 'cri' }) !== undefined) return false;
  for (const endpoint of probes(network)) if ((await whyNotFree(endpoint)) !== undefined) return false;
  return true;
};

const NETWORKS = (NETWORK_MAX - NETWORK_MIN) / 2 + 1;

/** Which of the networks is looked at first. */
export const placeOf = (dataDirectory: string): number =>
  createHash('sha256').update(dataDirectory).digest().readUInt32BE(0) % NETWORKS;

/**
 * A network that no one uses. The search begins at a place that follows from the folder, so that two clusters that
 * are stopped in turn do not get the same one.
 */
export const findNetwork = async (dataDirectory: string): Promise<number> => {
  const first = placeOf(dataDirectory);
  for (let step = 0; step < NETWORKS; step += 1) {
    const network = NETWORK_MIN + 2 * ((first + step) % NETWORKS);
    if (await isFree(network)) return network;
  }
  throw new SaidError('NoNetwork', say('network.none'));
};

const WHY = {
  EADDRINUSE: 'network.inUse',
  EADDRNOTAVAIL: 'network.notLocal',
  EACCES: 'network.denied',
} as const;
const unboundFor = (code: string, address: string): Said =>
  Object.hasOwn(WHY, code)
    ? say(WHY[code as keyof typeof WHY], { address })
    : say('network.unbound', { address, why: code });

/** Hosts end on their own when anyone who ran them is killed; until then their ports are theirs. */
const LEFTOVER_WAIT_MS = 5_000;
const LEFTOVER_POLL_MS = 50;

const freed = async (endpoint: Endpoint, deadlineMs: number): Promise<string | undefined> => {
  for (;;) {
    const code = await whyNotFree(endpoint);
    if (code !== 'EADDRINUSE' || performance.now() > deadlineMs) return code;
    await new Promise((resolve) => setTimeout(resolve, LEFTOVER_POLL_MS));
  }
};

/**
 * One clear line before anything is started, where a component would have to tell it again and again. Where
 * `mayHaveRun`, hosts of the run before are given time to end.
 */
export const assertPortsFree = async (endpoints: readonly Endpoint[], mayHaveRun = false): Promise<void> => {
  const deadlineMs = performance.now() + (mayHaveRun ? LEFTOVER_WAIT_MS : 0);
  for (const endpoint of endpoints) {
    const code = await freed(endpoint, deadlineMs);
    if (code === undefined) continue;
    throw new SaidError('PortInUse', unboundFor(code, `${endpoint.address}:${endpoint.port}`));
  }
};
