import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { ListenAddress } from '../../base/node/listen-address.ts';
import type { Random } from '../../base/random.ts';
import { statusOf, statusOfReason } from '../refusals/errors.ts';
import { Router } from './grpc/router.ts';
import { listen } from './grpc/server.ts';
import { notFound, servePlain } from './grpc/plain-http.ts';
import { withHttpAccess } from './grpc/http-access.ts';
import type { CallContext, Method, RpcObserver } from './grpc/method.ts';
import type { GrpcServer, KeepaliveOptions } from './grpc/server.ts';
import type { HttpAccess } from './grpc/http-access.ts';
import type { PlainHandler } from './grpc/plain-http.ts';
import type { ServerTls } from './grpc/server-tls.ts';
import type { MemberApi } from './member-api.ts';
import { createGateway } from './gateway/gateway.ts';
import { electionMethods } from './concurrency/election.ts';
import { lockMethods } from './concurrency/lock.ts';
import { createAdmission } from './services/admission.ts';
import { authMethods } from './services/auth.ts';
import { clusterMethods } from './services/cluster.ts';
import { healthMethods, ServingState } from './services/health.ts';
import { kvMethods } from './services/kv.ts';
import { leaseMethods } from './services/lease.ts';
import { maintenanceMethods } from './services/maintenance.ts';
import { watchMethods } from './services/watch.ts';

/** Room for what surrounds a request that is just within `--max-request-bytes`, as etcd has it. */
const GRPC_OVERHEAD_BYTES = 512 * 1024;
const REQUEST_BYTES_MAX_DEFAULT = 1.5 * 1024 * 1024;
const TXN_OPS_MAX_DEFAULT = 128;
const PROGRESS_INTERVAL_MS_DEFAULT = 10 * 60 * 1000;
const PROGRESS_INTERVAL_MS_MIN = 100;
const ELECTION_TIMEOUT_MS_DEFAULT = 1000;

export interface ClientServerOptions {
  readonly member: MemberApi;
  readonly clock: Clock;
  /** For what is looked after from time to time and may be late. */
  readonly slowClock?: Clock | undefined;
  readonly random: Random;
  readonly log: Log;
  readonly observer?: RpcObserver | undefined;
  /** `/health`, `/livez`, `/readyz`, `/version`, `/metrics`. */
  readonly plain?: PlainHandler | undefined;
  /** `--listen-client-urls`, one listener each. */
  readonly listeners: readonly {
    readonly address: ListenAddress;
    readonly tls?: ServerTls | undefined;
  }[];
  /** `--max-request-bytes`. The member itself refuses what is above it with RequestTooLarge. */
  readonly requestBytesMax?: number | undefined;
  /** `--max-txn-ops` */
  readonly txnOpsMax?: number | undefined;
  /** `--max-concurrent-streams` */
  readonly streamsMax?: number | undefined;
  /** `--watch-progress-notify-interval` */
  readonly progressIntervalMs?: number | undefined;
  /** `--election-timeout`: how long a leader may be missing before streams that insist on one are ended. */
  readonly electionTimeoutMs?: number | undefined;
  readonly keepalive?: KeepaliveOptions | undefined;
  readonly httpAccess?: HttpAccess | undefined;
  /** What gRPC's health service reports; always serving without it. */
  readonly serving?: ServingState | undefined;
  /** `--enable-grpc-gateway` */
  readonly gateway?: boolean | undefined;
}

export interface ClientServer {
  readonly servers: readonly GrpcServer[];
  renewCertificates(tls: ServerTls): void;
  /** Running calls have `graceMs` to finish; watches and lease streams are told immediately that the member stops. */
  close(options: { readonly graceMs: number }): Promise<void>;
}

const NOBODY_OBSERVES: RpcObserver = {
  started() {},
  messageReceived() {},
  messageSent() {},
  handled() {},
};

/** Every method of etcd's client API on one member: also what metrics are pre-registered from. */
export const clientMethods = (options: Omit<ClientServerOptions, 'listeners' | 'log'>): readonly Method[] => {
  const { member, clock, random } = options;
  const requestBytesMax = options.requestBytesMax ?? REQUEST_BYTES_MAX_DEFAULT;
  const progressIntervalMs = options.progressIntervalMs ?? PROGRESS_INTERVAL_MS_DEFAULT;
  return [
    ...kvMethods(member, { txnOpsMax: options.txnOpsMax ?? TXN_OPS_MAX_DEFAULT }),
    ...watchMethods(member, {
      clock,
      random,
      progressIntervalMs: Math.max(progressIntervalMs, PROGRESS_INTERVAL_MS_MIN),
      responseBytesMax: requestBytesMax + GRPC_OVERHEAD_BYTES,
    }),
    ...leaseMethods(member),
    ...clusterMethods(member),
    ...maintenanceMethods(member),
    ...authMethods(member),
    ...lockMethods(member),
    ...electionMethods(member),
    ...healthMethods(options.serving ?? new ServingState()),
  ];
};

/** Serves etcd's client API on every listener; rejects, with none left open, when one address cannot be had. */
export const serveClients = async (options: ClientServerOptions): Promise<ClientServer> => {
  const { member, clock, log } = options;
  const admission = createAdmission(member, {
    clock: options.slowClock ?? clock,
    electionTimeoutMs: options.electionTimeoutMs ?? ELECTION_TIMEOUT_MS_DEFAULT,
  });
  const shared = {
    methods: clientMethods(options),
    messageBytesMax: (options.requestBytesMax ?? REQUEST_BYTES_MAX_DEFAULT) + GRPC_OVERHEAD_BYTES,
    clock,
    observer: options.observer ?? NOBODY_OBSERVES,
    admit: (context: CallContext, request: unknown) => admission.admit(context, request),
    statusOf,
  };
  const gateway =
    options.gateway === false
      ? undefined
      : createGateway({ ...shared, isCommonNameUsed: () => member.isCommonNameUsed() });
  const plain = servePlain(options.plain ?? (() => notFound));
  const http = withHttpAccess(
    options.httpAccess ?? { origins: [], hosts: ['*'] },
    gateway?.serve(plain) ?? plain,
  );
  const router = new Router({ ...shared, http });
  const servers: GrpcServer[] = [];
  const close = async (graceMs: number): Promise<void> => {
    admission.dispose();
    const closed = servers.map((server) => server.close({ graceMs }));
    // After the goodbye of each connection, so that no client opens them again on the same one.
    router.endStreams(statusOfReason('Stopped'));
    gateway?.endStreams(statusOfReason('Stopped'));
    await Promise.all(closed);
  };
  try {
    for (const { address, tls } of options.listeners)
      servers.push(
        await listen({
          address,
          tls,
          route: (stream, peer) => router.route(stream, peer),
          http,
          clock,
          log,
          streamsMax: options.streamsMax,
          keepalive: options.keepalive,
        }),
      );
  } catch (error) {
    await close(0);
    throw error;
  }
  return {
    servers,
    renewCertificates(tls) {
      options.listeners.forEach((listener, index) => {
        if (listener.tls !== undefined) servers[index]!.renewCertificates(tls);
      });
    },
    close: ({ graceMs }) => close(graceMs),
  };
};
