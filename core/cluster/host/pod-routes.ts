import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { inIpv4Range, LOOPBACK, parseIpv4Range } from '../../base/bind-rules.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import { systemRandom } from '../../base/node/random.ts';
import {
  connect,
  InformerFactory,
  loadOwnKubeconfig,
  NODE,
  type Node,
  type Stored,
} from '../../client/index.ts';
import { kubeconfigPath } from '../../pki/index.ts';
import { podRange } from '../config/addresses.ts';
import type { HostStart } from './messages.ts';
import type { HostKubeletOptions } from './host-kubelet.ts';

const run = promisify(execFile);
/** Marks routes as ours in the kernel's table, so that those of machines that are gone are found. */
const PROTOCOL = '201';
const RETRY_MS = 5_000;
const SETTLE_MS = 100;
const IPTABLES = ['/usr/sbin/iptables', '/sbin/iptables'];

export interface RoutePlan {
  /** Nodes of this machine. */
  readonly own: readonly string[];
  /** The machine on which nodes with loopback addresses are; undefined: this one. */
  readonly gateway: string | undefined;
  /** Routes are set for ranges inside of it alone: a node must not draw other traffic to itself. */
  readonly podRange: string;
}

const internalAddress = ({ status }: Node): string | undefined =>
  status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;

const isInside = (cidr: string, within: string): boolean => {
  const [inner, outer] = [parseIpv4Range(cidr), parseIpv4Range(within)];
  return inner !== undefined && outer !== undefined && inner.first >= outer.first && inner.last <= outer.last;
};

/** Which machine each range of pods is on, by range. */
export const routesOf = (nodes: readonly Stored<Node>[], plan: RoutePlan): ReadonlyMap<string, string> => {
  const ownRanges = new Set(
    nodes.flatMap(({ metadata, spec }) => (plan.own.includes(metadata.name) ? (spec?.podCIDR ?? []) : [])),
  );
  const routes = new Map<string, string>();
  for (const node of nodes) {
    const [cidr, address] = [node.spec?.podCIDR, internalAddress(node)];
    if (cidr === undefined || address === undefined || plan.own.includes(node.metadata.name)) continue;
    const via = inIpv4Range(LOOPBACK, address) ? plan.gateway : address;
    if (via === undefined || ownRanges.has(cidr) || !isInside(cidr, plan.podRange) || routes.has(cidr))
      continue;
    routes.set(cidr, via);
  }
  return routes;
};

const ip = async (...args: string[]): Promise<string> => (await run('ip', ['-4', ...args])).stdout;

const presentRoutes = async (within: string): Promise<ReadonlyMap<string, string>> => {
  const found = JSON.parse((await ip('-j', 'route', 'show', 'proto', PROTOCOL)) || '[]') as {
    dst: string;
    gateway?: string;
  }[];
  return new Map(
    found.flatMap(({ dst, gateway }) =>
      gateway !== undefined && isInside(dst, within) ? [[dst, gateway] as const] : [],
    ),
  );
};

const applyRoutes = async (wanted: ReadonlyMap<string, string>, within: string): Promise<void> => {
  const present = await presentRoutes(within);
  for (const cidr of present.keys())
    if (!wanted.has(cidr)) await ip('route', 'delete', cidr, 'proto', PROTOCOL);
  for (const [cidr, via] of wanted)
    if (present.get(cidr) !== via) await ip('route', 'replace', cidr, 'via', via, 'proto', PROTOCOL);
};

/** Without it, what is sent to a pod of a machine that is gone would leave by the default route, to strangers. */
const keepInside = async (range: string): Promise<void> => {
  await ip('route', 'replace', 'unreachable', range, 'metric', '4096', 'proto', PROTOCOL);
};

/** Pods see each other's own addresses: the bridge would put the machine's in their place on the way to another one. */
const keepSources = async (range: string): Promise<void> => {
  const iptables = IPTABLES.find((path) => existsSync(path));
  if (iptables === undefined) return;
  const rule = ['POSTROUTING', '-s', range, '-d', range, '-j', 'ACCEPT'];
  const isThere = await run(iptables, ['-w', '-t', 'nat', '-C', ...rule]).then(
    () => true,
    () => false,
  );
  if (!isThere) await run(iptables, ['-w', '-t', 'nat', '-I', ...rule]);
};

const planOf = ({ joined, host, isAdvertised, runtime, ...rest }: HostStart): RoutePlan | undefined => {
  const own = host.nodes.map(({ name }) => name);
  if (joined)
    return joined.isRouted ? { own, gateway: joined.gateway, podRange: joined.podRange } : undefined;
  const isRouter = isAdvertised === true && runtime === 'cri' && host.role === 'workers';
  return isRouter ? { own, gateway: undefined, podRange: podRange({ runtime, ...rest }) } : undefined;
};

/**
 * Keeps a route to the pods of every other machine, for as long as it is not disposed. With the identity of kube-proxy: a
 * kubelet may read no node but its own.
 */
export const keepPodRoutes = (
  options: Pick<HostKubeletOptions, 'start' | 'clock' | 'log'>,
): Disposable | undefined => {
  const { start, clock, log } = options;
  const plan = planOf(start);
  if (!plan) return undefined;
  const owned = new DisposableStore();
  let timer: Disposable | undefined;
  let isDisposed = false;
  const later = (delayMs: number, run: () => Promise<void>): void => {
    if (isDisposed) return;
    timer ??= clock.after(delayMs, () => {
      timer = undefined;
      run().catch((error: unknown) => {
        log.write('warn', 'cannot set routes to pods of other machines', { error: messageOf(error) });
        later(RETRY_MS, run);
      });
    });
  };
  const begin = async (): Promise<void> => {
    await keepInside(plan.podRange);
    await keepSources(plan.podRange);
    const config = await loadOwnKubeconfig(kubeconfigPath(start.dataDirectory, 'kube-proxy.conf'));
    if (isDisposed) return;
    const shape = { clock, random: systemRandom, log };
    const client = owned.add(connect(config, { ...shape, userAgent: 'pilothouse-routes' }));
    const informers = owned.add(new InformerFactory({ client, ...shape }));
    const nodes = informers.informer(NODE);
    const apply = (): Promise<void> => applyRoutes(routesOf(nodes.store.list(), plan), plan.podRange);
    const changed = (): void => later(SETTLE_MS, apply);
    nodes.addHandler({ added: changed, updated: changed, deleted: changed });
    informers.start();
  };
  later(0, begin);
  return {
    dispose() {
      isDisposed = true;
      timer?.dispose();
      owned.dispose();
    },
  };
};
