import { isIP } from 'node:net';
import { join } from 'node:path';
import { systemClock } from '../../base/node/clock.ts';
import { sharedClock } from '../../base/shared-clock.ts';
import { withoutSync } from '../../base/disk.ts';
import { nodeDisk } from '../../base/node/disk.ts';
import { restrict } from '../../base/node/private-files.ts';
import { systemRandom } from '../../base/node/random.ts';
import { DisposableStore } from '../../base/disposable.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import type { ListenUrl, MemberConfig } from '../config/config.ts';
import { memberApi } from '../member/api/index.ts';
import { checkBeforeServing, watchCorruption } from '../member/corruption.ts';
import type { Member } from '../member/member.ts';
import { openMember } from '../member/open-member.ts';
import { peerMetrics, tlsPeerProbe, TlsPeerTransport, type PeerTls } from '../peer/index.ts';
import { serveClients, ServingState } from '../rpc/index.ts';
import type { ClientServer, MemberApi, ServerTls } from '../rpc/index.ts';
import { lockDirectory } from '../../base/node/directory-lock.ts';
import { explainDamage, prepareDatabases } from './database-files.ts';
import { discovered } from '../discovery/index.ts';
import { withAutoTls } from './auto-tls.ts';
import { withDebugVars } from './debug-vars.ts';
import { memberEndpoints } from './endpoints.ts';
import { loadJwt } from './auth-keys.ts';
import { assertFirstStart } from './first-start.ts';
import { lmdbHouse } from './lmdb-house.ts';
import { listenMetrics, type MetricsListener } from './metrics-listener.ts';
import { measuredApi } from './measured-api.ts';
import { memberObserver } from './member-observer.ts';
import { registerMember } from './metrics.ts';
import { logServing } from './serving-lines.ts';
import { withSlowRequests } from './slow-requests.ts';
import { rpcObserver } from './rpc-metrics.ts';
import { loadTls, watchTls, type LoadedTls } from './tls-files.ts';

const CLOSE_GRACE_MS = 2000;
/** What is looked after from time to time is looked after together: a member at rest is awakenings before all. */
const SLOW_GRID_MS = 1000;

export interface RunningMember {
  readonly member: Member;
  readonly registry: Registry;
  /** Rejects when the member stops on its own: its disk failed, or the cluster removed it. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
}

const listenersOf = (urls: readonly ListenUrl[], tls: ServerTls | undefined) =>
  urls.map(({ address, secure }) => ({ address, ...(secure && tls ? { tls } : {}) }));

const serverTls = (tls: LoadedTls, config: MemberConfig): ServerTls => ({
  ...tls,
  ...config.tls,
  allowed: config.clientTls.allowed,
});
const peerTls = (tls: LoadedTls, config: MemberConfig): PeerTls => ({
  ...tls,
  ...config.tls,
  allowed: config.peerTls.allowed,
  verifyAddress: config.verifyPeerAddress,
  verifyPeers: !config.peerTls.isAutomatic,
});

/** SetMemberLocalAddr: the first advertised address that is one of this machine's and not of the loopback. */
const localAddressOf = ({ gates, advertisePeerUrls }: MemberConfig): string | undefined =>
  gates.SetMemberLocalAddr
    ? advertisePeerUrls.map((url) => new URL(url).hostname.replace(/^\[|\]$/g, '')).find(isOwnAddress)
    : undefined;

const isOwnAddress = (host: string): boolean => isIP(host) !== 0 && !/^(127\.|0\.0\.0\.0$|::1?$)/.test(host);

/** Clients that look at gRPC's health go to another member while this one is defragmented. */
const awayOnDefrag = (api: MemberApi, serving: ServingState): MemberApi => ({
  ...api,
  async defragment(context) {
    serving.set(false);
    try {
      await api.defragment(context);
    } finally {
      serving.set(true);
    }
  },
});

/** Where a URL's address is taken or not ours, says which flag to look at. */
const listening = async <T>(
  flagName: string,
  urls: readonly ListenUrl[],
  open: () => Promise<T>,
): Promise<T> => {
  try {
    return await open();
  } catch (cause) {
    throw new ReasonError(
      'CannotListen',
      `cannot listen on ${urls.map((url) => url.url).join(', ')} (--${flagName}): ${messageOf(cause)}`,
      { cause },
    );
  }
};

/** One member with its listeners, over this machine's disk, clock and network. */
export const runMember = async (flags: MemberConfig, log: Log): Promise<RunningMember> => {
  const owned = new DisposableStore();
  const unlock = await lockDirectory(flags.dataDirectory);
  owned.add(unlock);
  let rejectFailed: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => (rejectFailed = reject));
  failed.catch(() => undefined);
  const registry = new Registry();
  const observer = memberObserver(registry);
  const clock = systemClock;
  const slowClock = owned.add(sharedClock(clock, { gridMs: SLOW_GRID_MS }));
  const random = systemRandom;
  const memberDirectory = join(flags.dataDirectory, 'member');
  try {
    const automatic = await withAutoTls(flags, { clock, log });
    const config = await discovered(automatic, { disk: nodeDisk, clock, log });
    await Promise.all([memberDirectory, config.walDirectory].map(restrict));
    await prepareDatabases(memberDirectory);
    const [clientCertificates, peerCertificates] = await Promise.all([
      loadTls(config.clientTls),
      loadTls(config.peerTls),
    ]);
    const peerSecurity = peerCertificates && peerTls(peerCertificates, config);
    const probe = tlsPeerProbe({
      tls: peerSecurity,
      electionTimeoutMs: config.electionTimeoutMs,
      clock,
      random,
      log,
    });
    const jwt = await loadJwt(config.authToken, clock);
    await assertFirstStart(config, { disk: nodeDisk, probe });
    const holder: { transport?: TlsPeerTransport; member?: Member } = {};
    const member = await openMember(
      config,
      {
        clock,
        random,
        log,
        disk: config.unsafeNoFsync ? withoutSync(nodeDisk) : nodeDisk,
        backends: lmdbHouse(memberDirectory, {
          clock,
          commitIntervalMs: config.backendBatchIntervalMs,
          commitWritesMax: config.backendBatchLimit,
          isUnsafe: config.unsafeNoFsync,
          onCommit: (seconds) => observer.backendCommitted(seconds),
          onCommitFailed: (error) => holder.member?.fail(error),
        }),
        transport: ({ memberId, clusterId }) =>
          (holder.transport = new TlsPeerTransport({
            id: memberId,
            clusterId,
            listenUrls: config.listenPeers.map(({ url }) => url),
            advertiseUrls: config.advertisePeerUrls,
            tls: peerSecurity,
            electionTimeoutMs: config.electionTimeoutMs,
            localAddress: localAddressOf(config),
            metrics: peerMetrics(registry, memberId),
            clock: slowClock,
            random,
            log,
          })),
        probe,
        jwt,
        defer: (run) => void setImmediate(run),
      },
      { observer, onFailed: (error) => rejectFailed(explainDamage(error, memberDirectory)) },
    );
    holder.member = member;
    registerMember(registry, member);
    const serving = new ServingState();
    const measured = measuredApi(memberApi(member), registry, clock);
    const api = config.gates.StopGRPCServiceOnDefrag ? awayOnDefrag(measured, serving) : measured;
    const endpoints = memberEndpoints(member, registry);
    let isClosing = false;
    const rpc = withSlowRequests(rpcObserver(registry, { withDurations: config.metrics === 'extensive' }), {
      log,
      slowMs: config.slowRequestMs,
      isClosing: () => isClosing,
    });
    let clients: ClientServer | undefined;
    let metrics: MetricsListener | undefined;
    const serve = (tls: ServerTls | undefined): Promise<ClientServer> =>
      serveClients({
        member: api,
        clock,
        slowClock,
        random,
        log,
        observer: rpc,
        plain: withDebugVars(member, endpoints),
        listeners: listenersOf(config.listenClients, tls),
        requestBytesMax: config.requestBytesMax,
        txnOpsMax: config.txnOperationsMax,
        streamsMax: config.concurrentStreamsMax,
        progressIntervalMs: config.progressNotifyIntervalMs,
        electionTimeoutMs: config.electionTimeoutMs,
        keepalive: config.keepalive,
        httpAccess: config.httpAccess,
        gateway: config.gateway,
        serving,
      });
    const close = async (): Promise<void> => {
      isClosing = true;
      log.write('info', 'closing etcd server', { name: config.name, 'data-dir': config.dataDirectory });
      await Promise.all([clients?.close({ graceMs: CLOSE_GRACE_MS }), metrics?.close()]);
      await member.close();
      owned.dispose();
    };
    try {
      await listening('listen-peer-urls', config.listenPeers, () => member.start());
      const unverified = config.gates.InitialCorruptCheck ? await checkBeforeServing(member) : [];
      owned.add(watchCorruption(member, unverified));
      const tls = clientCertificates && serverTls(clientCertificates, config);
      clients = await listening('listen-client-urls', config.listenClients, () => serve(tls));
      metrics = await listening('listen-metrics-urls', config.listenMetrics, () =>
        listenMetrics({ listeners: listenersOf(config.listenMetrics, tls), handler: endpoints, log }),
      );
    } catch (error) {
      await close();
      throw error;
    }
    logServing(config, log);
    const problem = (error: unknown): void =>
      log.write('warn', 'renewed certificate cannot be used; the old one stays', { error: messageOf(error) });
    owned.add(
      watchTls(
        config.clientTls,
        clock,
        (tls) => {
          clients?.renewCertificates(serverTls(tls, config));
          metrics?.renewCertificates(serverTls(tls, config));
        },
        problem,
      ),
    );
    owned.add(
      watchTls(
        config.peerTls,
        clock,
        (tls) => holder.transport?.renewCertificates(peerTls(tls, config)),
        problem,
      ),
    );
    return { member, registry, failed, close };
  } catch (error) {
    owned.dispose();
    throw explainDamage(error, memberDirectory);
  }
};
