import type { Clock } from '../../base/clock.ts';
import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { every } from '../../base/every.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { FeatureGates } from '../../api/releases/index.ts';
import type { Log } from '../../base/log.ts';
import { AddressRange } from '../registry/services/address-range.ts';
import type { HealthRegistry } from '../../component/health.ts';
import type { Store } from '../storage/store.ts';
import { ensureClusterAuthentication, type ClusterAuthentication } from './cluster-authentication.ts';
import { isPassing, pollUntil } from './ensure.ts';
import { ensureFlowControl, FLOW_CONTROL_INTERVAL_MS } from './flow-control.ts';
import { ensureFlowSchemaStatus, SCHEMA_STATUS_INTERVAL_MS } from './flow-schema-status.ts';
import {
  collectIdentityLeases,
  IDENTITY_GC_INTERVAL_MS,
  IDENTITY_RENEW_INTERVAL_MS,
  renewIdentityLease,
} from './identity-lease.ts';
import { startKubernetesService, type KubernetesService } from './kubernetes-service/kubernetes-service.ts';
import { ensureTokenTracking } from './legacy-token-tracking.ts';
import type { ObjectWriter } from './object-writer.ts';
import { startPostStartHooks, type PostStartHook } from './post-start-hooks.ts';
import { ensureSystemPriorityClasses } from './priority-classes.ts';
import { ensureRbacPolicy } from './rbac-policy.ts';
import { awaitRbacTurn } from './rbac-turn.ts';
import { ensureServiceCidr } from './service-cidr.ts';
import { ensureSystemNamespaces } from './system-namespaces.ts';

const NAMESPACES_INTERVAL_MS = 60_000;
const SERVICE_CIDR_INTERVAL_MS = 10_000;
const AUTHENTICATION_INTERVAL_MS = 60_000;
/** As upstream's informer relists. */
const TOKEN_TRACKING_INTERVAL_MS = 12 * 3_600_000;
/** Upstream's limits for hooks without which a cluster does not work; then the server ends. */
const HOOK_RETRY_MS = 1_000;
const HOOK_LIMIT_MS = 30_000;

export interface BootstrapOptions {
  readonly writer: ObjectWriter;
  readonly store: Store;
  readonly health: HealthRegistry;
  readonly clock: Clock;
  readonly log: Log;
  readonly minor: number;
  readonly gates: FeatureGates;
  readonly advertiseAddress: string;
  readonly securePort: number;
  readonly kubernetesServiceNodePort?: number | undefined;
  /** --service-cluster-ip-range, the primary first. */
  readonly serviceCidrs: readonly string[];
  /** False with --endpoint-reconciler-type=none: anyone who runs the cluster keeps the endpoints of the service. */
  readonly reconcilesEndpoints?: boolean;
  readonly hostname: string;
  /** Another one for each life of the server. */
  readonly instance: string;
  /** Read again each time: authorities are rotated while the server runs. */
  authentication(): ClusterAuthentication;
  /** Whether the server may be shown to clients; by default, when /readyz says so. */
  isServing?(): Promise<boolean>;
  /** The addresses of all servers that are there, whenever they were read. */
  onServers?(addresses: readonly string[]): void;
  onFailed(hook: string, error: unknown): void;
}

export interface Bootstrap {
  /** Takes this server out of the endpoints and ends all that lasts. */
  stop(): Promise<void>;
}

const isServing = async (health: HealthRegistry): Promise<boolean> => {
  const answer = await health.answer('/readyz', new URLSearchParams(), new AbortController().signal);
  return answer?.code === 200;
};

interface Repetition {
  readonly clock: Clock;
  readonly log: Log;
  readonly pauseMs: number;
  readonly what: string;
  work(): Promise<void>;
}

/** A task that a server does again and again; one that fails is logged and tried the next time. */
const repeated = ({ clock, log, pauseMs, what, work }: Repetition): Disposable =>
  every(clock, pauseMs, () =>
    work().catch((error: unknown) =>
      log.write('warn', 'a repeated task of the server failed', { what, error: messageOf(error) }),
    ),
  );

/** Runs every post-start hook under upstream's name. Call when the listener is open and the caches are filled. */
export const startBootstrap = (options: BootstrapOptions): Bootstrap => {
  const { writer, clock, log, health } = options;
  const lasting = new DisposableStore();
  let service: KubernetesService | undefined;

  /** Again and again until it works or the limit is over; what will not pass ends it immediately. */
  const insist = (signal: AbortSignal, work: () => Promise<boolean>): Promise<void> =>
    pollUntil({ clock, signal, intervalMs: HOOK_RETRY_MS, limitMs: HOOK_LIMIT_MS }, async () => {
      try {
        return await work();
      } catch (error) {
        if (!isPassing(error)) throw error;
        log.write('warn', 'a post-start hook tries again', { error: messageOf(error) });
        return false;
      }
    });
  const once = (work: () => Promise<void>) => (signal: AbortSignal) =>
    insist(signal, () => work().then(() => true));
  const repeatedly = (pauseMs: number, what: string, work: () => Promise<void>): void =>
    void lasting.add(repeated({ clock, log, pauseMs, what, work }));
  /** The first time counts for readiness; after that it is repeated for as long as the server runs. */
  const lastingly =
    (pauseMs: number, what: string, work: () => Promise<void>) =>
    async (signal: AbortSignal): Promise<void> => {
      await once(work)(signal);
      repeatedly(pauseMs, what, work);
    };

  let turn: Promise<void> | undefined;
  const awaitTurn = (signal: AbortSignal): Promise<void> =>
    (turn ??= awaitRbacTurn({ writer, minor: options.minor, clock, signal }).finally(
      () => (turn = undefined),
    ));

  const identityHooks = [
    {
      name: 'start-kube-apiserver-identity-lease-controller',
      run: lastingly(IDENTITY_RENEW_INTERVAL_MS, 'identity lease', () => renewIdentityLease(options)),
    },
    {
      name: 'start-kube-apiserver-identity-lease-garbage-collector',
      run: lastingly(IDENTITY_GC_INTERVAL_MS, 'identity leases', () =>
        collectIdentityLeases(writer, clock, log),
      ),
    },
  ];

  const hooks: readonly PostStartHook[] = [
    {
      name: 'start-system-namespaces-controller',
      run: lastingly(NAMESPACES_INTERVAL_MS, 'namespaces', () => ensureSystemNamespaces(writer)),
    },
    {
      name: 'rbac/bootstrap-roles',
      run: (signal) =>
        insist(signal, async () => {
          await awaitTurn(signal);
          return ensureRbacPolicy(writer, options.minor, log);
        }),
    },
    {
      name: 'scheduling/bootstrap-system-priority-classes',
      run: once(() => ensureSystemPriorityClasses(writer)),
    },
    {
      name: 'priority-and-fairness-config-producer',
      async run(signal) {
        // Anyone who makes the roles makes these meanwhile. That it cannot be told whose turn it is says nothing about them.
        await awaitTurn(signal).catch(() => undefined);
        await lastingly(FLOW_CONTROL_INTERVAL_MS, 'flow control', () => ensureFlowControl(writer))(signal);
        // Not while servers start together: one of them writes it, and the others see it.
        repeatedly(SCHEMA_STATUS_INTERVAL_MS, 'status of flow schemas', () =>
          ensureFlowSchemaStatus(writer, clock),
        );
      },
    },
    {
      name: 'start-kubernetes-service-cidr-controller',
      run: lastingly(SERVICE_CIDR_INTERVAL_MS, 'service CIDR', () =>
        ensureServiceCidr({ writer, clock, cidrs: options.serviceCidrs }),
      ),
    },
    {
      name: 'start-cluster-authentication-info-controller',
      run: lastingly(AUTHENTICATION_INTERVAL_MS, 'cluster authentication', () =>
        ensureClusterAuthentication(writer, options.authentication()),
      ),
    },
    {
      name: 'start-legacy-token-tracking-controller',
      run: lastingly(TOKEN_TRACKING_INTERVAL_MS, 'token tracking', () => ensureTokenTracking(writer, clock)),
    },
    ...(options.gates.isEnabled('APIServerIdentity') ? identityHooks : []),
    {
      name: 'bootstrap-controller',
      run() {
        const [primary] = options.serviceCidrs;
        if (primary === undefined)
          return Promise.reject(new ReasonError('NoServiceCidr', 'there is no range for service addresses'));
        service = startKubernetesService({
          ...options,
          serviceIp: new AddressRange(primary).firstAddress,
          nodePort: options.kubernetesServiceNodePort,
          isServing: () => options.isServing?.() ?? isServing(health),
        });
        return Promise.resolve();
      },
    },
  ];
  lasting.add(
    startPostStartHooks(hooks, { health, log, onFailed: (name, error) => options.onFailed(name, error) }),
  );
  return {
    async stop() {
      await service?.stop();
      lasting.dispose();
    },
  };
};
