import type { Clock } from '../../../base/clock.ts';
import { messageOf, ReasonError } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import { wait } from '../../../base/wait.ts';
import { isInvalid, type KubernetesObject } from '../../../api/meta/index.ts';
import type { Store } from '../../storage/store.ts';
import { ensureObject, pollUntil, repeat } from '../ensure.ts';
import type { ObjectWriter } from '../object-writer.ts';
import { writeEndpoints } from './endpoints.ts';
import { MasterLeases } from './master-leases.ts';

const SERVICES = { group: '', resource: 'services' };
/** Upstream's DefaultEndpointReconcilerInterval; a lease outlives it by half. */
const RECONCILE_INTERVAL_MS = 10_000;
const RECONCILE_RETRY_MS = 500;
const READY_POLL_MS = 100;
/** How long the server that holds the address of the service may take to write it. */
const SERVICE_ATTEMPTS_MAX = 20;
const SERVICE_RETRY_MS = 100;
/** Serving must not hang on etcd when the server ends: upstream waits for two intervals. */
const STOP_LIMIT_MS = 2 * RECONCILE_INTERVAL_MS;

export interface KubernetesServiceOptions {
  readonly writer: ObjectWriter;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** --advertise-address */
  readonly advertiseAddress: string;
  /** --secure-port */
  readonly securePort: number;
  /** The first address of --service-cluster-ip-range. */
  readonly serviceIp: string;
  /** Port of the service itself. */
  readonly servicePort?: number | undefined;
  /** --kubernetes-service-node-port; 0 or absent is none. */
  readonly nodePort?: number | undefined;
  /** False: the service is kept, its endpoints are somebody else's. */
  readonly reconcilesEndpoints?: boolean | undefined;
  /** Whether this server answers requests: clients must not be sent to one that does not yet. */
  isServing(): Promise<boolean>;
  onServers?(addresses: readonly string[]): void;
}

export interface KubernetesService {
  /** Takes the server's address out of the endpoints. Bounded: a server must be able to end without etcd. */
  stop(): Promise<void>;
}

const SERVICE_PORT_DEFAULT = 443;

const serviceOf = (options: KubernetesServiceOptions): KubernetesObject => {
  const { securePort, serviceIp, servicePort = SERVICE_PORT_DEFAULT, nodePort = 0 } = options;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      namespace: 'default',
      name: 'kubernetes',
      labels: { component: 'apiserver', provider: 'kubernetes' },
    },
    spec: {
      type: nodePort > 0 ? 'NodePort' : 'ClusterIP',
      clusterIP: serviceIp,
      clusterIPs: [serviceIp],
      ipFamilyPolicy: 'SingleStack',
      sessionAffinity: 'None',
      ports: [
        {
          name: 'https',
          protocol: 'TCP',
          port: servicePort,
          targetPort: securePort,
          ...(nodePort > 0 && { nodePort }),
        },
      ],
    },
  };
};

/** Keeps the `kubernetes` service and shows in its endpoints every server whose lease lives. */
export const startKubernetesService = (options: KubernetesServiceOptions): KubernetesService => {
  const { writer, store, clock, log, advertiseAddress, securePort, reconcilesEndpoints = true } = options;
  const leases = new MasterLeases(store);
  const stop = new AbortController();
  let turn: Promise<void> = Promise.resolve();

  const reconcile = async (): Promise<void> => {
    const addresses = await leases.list();
    if (addresses.length === 0 && !stop.signal.aborted)
      throw new ReasonError(
        'NoMasterLeases',
        'no API server IP addresses were listed in storage, refusing to erase all endpoints for the kubernetes Service',
      );
    options.onServers?.(addresses);
    await writeEndpoints(writer, addresses, securePort);
  };
  const ensureService = async (): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await ensureObject(writer, SERVICES, { object: serviceOf(options) });
        return;
      } catch (error) {
        // Another server that makes it at the same moment holds its address already, and will have made it soon.
        if (!isInvalid(error) || attempt === SERVICE_ATTEMPTS_MAX || stop.signal.aborted) throw error;
        await wait(clock, SERVICE_RETRY_MS, stop.signal);
      }
    }
  };
  const sync = async (): Promise<void> => {
    if (stop.signal.aborted) return;
    if (!reconcilesEndpoints) return ensureService();
    // First: the others then show this server even where the rest fails.
    await leases.renew(advertiseAddress);
    await ensureService();
    await reconcile();
  };
  const forgetOldLife = async (): Promise<void> => {
    try {
      if (await leases.remove(advertiseAddress))
        log.write('warn', 'the last life of this server did not end in order; its lease was removed');
    } catch (error) {
      log.write('warn', 'an old master lease could not be removed', { error: messageOf(error) });
    }
  };
  const run = async (): Promise<{ dispose(): void } | undefined> => {
    if (reconcilesEndpoints) await forgetOldLife();
    const poll = { clock, signal: stop.signal, intervalMs: READY_POLL_MS, limitMs: Infinity };
    await pollUntil(poll, () => options.isServing());
    if (stop.signal.aborted) return undefined;
    return repeat(
      {
        clock,
        pauseMs: RECONCILE_INTERVAL_MS,
        retryMs: RECONCILE_RETRY_MS,
        onError: (error) =>
          log.write('error', 'the kubernetes service could not be kept', { error: messageOf(error) }),
      },
      () => (turn = sync()),
    );
  };
  const loop = run().catch((error: unknown) => {
    log.write('error', 'the kubernetes service is not kept', { error: messageOf(error) });
    return undefined;
  });

  const leave = async (): Promise<void> => {
    (await loop)?.dispose();
    await turn.catch((error: unknown) =>
      log.write('debug', 'the last turn had failed', { error: messageOf(error) }),
    );
    if (!reconcilesEndpoints) return;
    await leases.remove(advertiseAddress);
    await reconcile();
  };
  return {
    stop() {
      stop.abort();
      return new Promise((resolve) => {
        const limit = clock.after(STOP_LIMIT_MS, resolve);
        leave()
          .catch((error: unknown) =>
            log.write('warn', 'the address of this server could not be taken out of the endpoints', {
              error: messageOf(error),
            }),
          )
          .finally(() => {
            limit.dispose();
            resolve();
          });
      });
    },
  };
};
