import { DisposableStore } from '../base/disposable.ts';
import { messageOf, ReasonError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { EXPOSITION_CONTENT_TYPE, Registry } from '../base/metrics/index.ts';
import { systemClock } from '../base/node/clock.ts';
import { systemRandom } from '../base/node/random.ts';
import {
  ApiEventRecorder,
  connect,
  InformerFactory,
  loadLastingKubeconfig,
  type ClientConfig,
} from '../client/index.ts';
import { clientsOfThisMachine, takeRanges } from './local-ranges.ts';
import type { BindAddress, ProxyConfig } from './config/config.ts';
import { createProxy, type Proxy } from './create-proxy.ts';
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
