import type { Clock } from '../base/clock.ts';
import { DisposableStore, type Disposable } from '../base/disposable.ts';
import { messageOf, ReasonError } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { EXPOSITION_CONTENT_TYPE, Registry } from '../base/metrics/index.ts';
import type { Random } from '../base/random.ts';
import { HttpListener, type HttpAnswer } from '../component/http-listener.ts';
import type { DnsConfig } from './config/config.ts';
import { Forwarder } from './server/forwarder.ts';
import { LazySource, type WatchedSource } from './server/lazy-source.ts';
import { listenTcp, listenUdp } from './server/listeners.ts';
import { dnsMetrics } from './server/metrics.ts';
import { Responder } from './server/responder.ts';

const PLAIN = { 'content-type': 'text/plain; charset=utf-8' };

export interface DnsServerOptions {
  readonly config: Omit<DnsConfig, 'kubeconfig'>;
  /** Begins to watch the cluster's objects; called with the first question. */
  openSource(): Promise<WatchedSource>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly registry?: Registry;
}

const listenHttp = async (
  { metrics }: DnsServerOptions['config'],
  answer: (path: string) => HttpAnswer | undefined,
  owned: DisposableStore,
): Promise<void> => {
  if (!metrics) return;
  const listener = new HttpListener(answer);
  try {
    await listener.listen(metrics.host, metrics.port);
  } catch (cause) {
    throw new ReasonError(
      'CannotListen',
      `cannot listen on ${metrics.host}:${metrics.port} (--metrics-bind-address): ${messageOf(cause)}`,
      { cause },
    );
  }
  owned.defer(() => listener.destroy());
};

/** DNS on one address, over UDP and TCP, with health and metrics. Resolves when it listens. */
export const startDnsServer = async (options: DnsServerOptions): Promise<Disposable> => {
  const { config, clock, random, log, registry = new Registry() } = options;
  const owned = new DisposableStore();
  const metrics = dnsMetrics(registry);
  const server = `dns://${config.bind.host}:${config.bind.port}`;
  const lazy = new LazySource({ clock, idleMs: config.idleMs, open: () => options.openSource() });
  owned.add(lazy);
  const forwarder = new Forwarder({ upstreams: config.upstreams, clock, random, log, metrics, server });
  owned.defer(() => forwarder.close());
  const responder = new Responder({
    zone: config.zone,
    source: () => lazy.get(),
    forwarder,
    clock,
    random,
    log,
    metrics,
    server,
  });
  registry.beforeExpose(() => forwarder.observeMetrics());
  registry.gaugeFunction(
    { name: 'pilothouse_dns_watching', help: '1 while Services and EndpointSlices are watched.' },
    () => (lazy.isOpen ? 1 : 0),
  );
  try {
    const udp = await listenUdp(config.bind, responder);
    owned.defer(() => udp.close());
    const tcp = await listenTcp(config.bind, responder, clock);
    owned.defer(() => tcp.close());
    await listenHttp(
      config,
      (path) => {
        if (path === '/metrics')
          return { code: 200, body: registry.expose(), headers: { 'content-type': EXPOSITION_CONTENT_TYPE } };
        if (path === '/health') return { code: 200, body: 'OK', headers: PLAIN };
        if (path !== '/ready') return undefined;
        return lazy.isReady
          ? { code: 200, body: 'OK', headers: PLAIN }
          : { code: 503, body: 'kubernetes', headers: PLAIN };
      },
      owned,
    );
  } catch (error) {
    owned.dispose();
    throw error;
  }
  return owned;
};
