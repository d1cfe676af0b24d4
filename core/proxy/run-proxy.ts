import { inIpv4Range } from '../base/bind-rules.ts';
import type { Clock } from '../base/clock.ts';
import { DisposableStore } from '../base/disposable.ts';
import { messageOf, ReasonError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { EXPOSITION_CONTENT_TYPE, Registry } from '../base/metrics/index.ts';
import { systemClock } from '../base/node/clock.ts';
import { systemRandom } from '../base/node/random.ts';
import type { Random } from '../base/random.ts';
import {
  ApiEventRecorder,
  connect,
  InformerFactory,
  loadLastingKubeconfig,
  type ClientConfig,
} from '../client/index.ts';
import { PolicyAgent } from '../policy-agent/index.ts';
import { clientsOfThisMachine, takeRanges } from './local-ranges.ts';
import type { BindAddress, ProxyConfig } from './config/config.ts';
import { createProxy, type Proxy } from './create-proxy.ts';
import type { MayReachThrough } from './proxier.ts';
import { HttpListener, type HttpAnswer } from '../component/http-listener.ts';

export interface RunningProxy {
  readonly proxy: Proxy;
  /** Rejects when the proxy must end on its own. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
}

const PLAIN = { 'content-type': 'text/plain; charset=utf-8' };

const clientConfigOf = async ({ kubeconfig, master }: ProxyConfig): Promise<ClientConfig> => {
  const config: ClientConfig =
    kubeconfig === ''
      ? { servers: [], auth: {}, namespace: 'default' }
      : await loadLastingKubeconfig(kubeconfig);
  return master === '' ? config : { ...config, servers: [master] };
};

const serve = async (
  flagName: string,
  bind: BindAddress | undefined,
  owned: DisposableStore,
  answer: (path: string) => HttpAnswer | undefined,
): Promise<void> => {
  if (!bind) return;
  const listener = new HttpListener(answer);
  try {
    await listener.listen(bind.host, bind.port);
  } catch (cause) {
    throw new ReasonError(
      'CannotListen',
      `cannot listen on ${bind.host}:${bind.port} (--${flagName}): ${messageOf(cause)}`,
      { cause },
    );
  }
  owned.defer(() => listener.destroy());
};

/**
 * Endpoints see this machine in the place of a pod that comes through a Service, which policies always allow: they are asked
 * here, where the pod is known by its address.
 */
const judgeOfPods = (
  { policyKubeconfig, clusterRanges }: ProxyConfig,
  shape: { readonly clock: Clock; readonly random: Random; readonly log: Log },
  owned: DisposableStore,
): MayReachThrough => {
  const agent = new PolicyAgent({
    ...shape,
    connect: async () =>
      connect(await loadLastingKubeconfig(policyKubeconfig), { ...shape, userAgent: 'network-policy' }),
  });
  owned.add(agent);
  agent.start();
  const isThisMachine = clientsOfThisMachine([]);
  return (from, { host, port }, { protocol, ...service }) => {
    const isPod = clusterRanges.some((range) => inIpv4Range(range, from)) && !isThisMachine(from);
    if (!isPod || !agent.isPoliced) return undefined;
    const asked = agent.judge({ kind: 'forward', from, to: host, protocol, port, service });
    return asked.then(({ isAllowed }) => isAllowed);
  };
};

/** kube-proxy with its health and metrics ports, over this machine's clock and network. */
export const runProxy = async (config: ProxyConfig, log: Log): Promise<RunningProxy> => {
  const [clock, random] = [systemClock, systemRandom];
  const owned = new DisposableStore();
  const registry = new Registry();
  const client = connect(await clientConfigOf(config), {
    clock,
    random,
    log,
    registry,
    userAgent: 'kube-proxy',
  });
  owned.add(client);
  const informers = new InformerFactory({ client, clock, random, log, registry });
  owned.add(informers);
  const events = new ApiEventRecorder({
    client,
    clock,
    random,
    log,
    component: 'kube-proxy',
    host: config.nodeNames[0] ?? '',
  });
  const { localRanges } = config;
  const mayReach =
    config.policyKubeconfig === '' ? undefined : judgeOfPods(config, { clock, random, log }, owned);
  const giveBack = await takeRanges(localRanges);
  const proxy = createProxy({
    informers,
    nodeNames: config.nodeNames,
    claims: config.claims,
    clusterRanges: config.clusterRanges,
    ...(config.mode === 'nftables' && { nftables: {} }),
    ...(localRanges.length > 0 && {
      isClient: clientsOfThisMachine([...localRanges, ...config.clusterRanges]),
    }),
    ...(mayReach && { mayReach }),
    events,
    clock,
    random,
    log,
    registry,
    connectionsMax: config.connectionsMax,
  });
  const close = async (): Promise<void> => {
    await proxy.close();
    await informers.stop();
    await events.stop('now');
    owned.dispose();
    await giveBack();
  };
  try {
    await serve('healthz-bind-address', config.healthz, owned, (path) => proxy.health.answer(path));
    await serve('metrics-bind-address', config.metrics, owned, (path) => {
      if (path === '/metrics')
        return { code: 200, body: registry.expose(), headers: { 'content-type': EXPOSITION_CONTENT_TYPE } };
      if (path === '/healthz') return { code: 200, body: 'ok', headers: PLAIN };
      return path === '/proxyMode' ? { code: 200, body: config.mode, headers: PLAIN } : undefined;
    });
  } catch (error) {
    await close();
    throw error;
  }
  informers.start();
  // Lists and watches are tried again for ever, and listeners that fail stand by: nothing ends it from the inside.
  const failed = new Promise<never>(() => undefined);
  return { proxy, failed, close };
};
