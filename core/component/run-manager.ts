import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '../base/clock.ts';
import { DisposableStore } from '../base/disposable.ts';
import { messageOf, ReasonError } from '../base/errors.ts';
import type { FlagValues } from '../base/flags.ts';
import type { Log } from '../base/log.ts';
import { Registry } from '../base/metrics/index.ts';
import { systemClock } from '../base/node/clock.ts';
import { lastingController } from '../base/node/lasting-signal.ts';
import { readAuthorities, readPair, watchFiles } from '../base/node/pem-files.ts';
import { systemRandom } from '../base/node/random.ts';
import { tlsSettingsOf, weakSuitesIn } from '../base/node/tls-settings.ts';
import type { Random } from '../base/random.ts';
import {
  connect,
  loadLastingKubeconfig,
  runElection,
  type Client,
  type ClientConfig,
} from '../client/index.ts';
import { alternativeNames, createAuthority, issueLeaf, openAuthority } from '../pki/index.ts';
import type { FrontProxyRules } from './callers.ts';
import { delegatedAccess, type Reviewers } from './delegated-access.ts';
import type { managerFlags } from './flags.ts';
import { HealthRegistry } from './health.ts';
import { createSecureServer, type Page, type ServingFiles } from './secure-server.ts';

export type ManagerSettings = FlagValues<ReturnType<typeof managerFlags>>;

/** What the work of a manager is given. */
export interface ManagerContext {
  /** Sends nothing once the lease is lost. */
  readonly client: Client;
  /** Another client of this process that sends nothing once the lease is lost. */
  fence(client: Client): Client;
  /** After the signal: resolves when what was sent is answered; only then may a fenced client be closed. */
  settled(): Promise<void>;
  readonly config: ClientConfig;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly registry: Registry;
  readonly health: HealthRegistry;
  /** Differs between all processes; holds the lease. */
  readonly identity: string;
}

export interface ManagerOptions {
  /** `kube-scheduler`. */
  readonly name: string;
  readonly version: string;
  readonly settings: ManagerSettings;
  readonly log: Log;
  readonly pages?: Readonly<Record<string, Page>>;
  /** The work, which only the leader does; resolves when the signal is aborted and all is done. */
  lead(context: ManagerContext, signal: AbortSignal): Promise<void>;
}

export interface RunningManager {
  readonly registry: Registry;
  /** Where health and metrics are answered; undefined with --secure-port=0. */
  readonly port: number | undefined;
  /** Rejects when the manager must end on its own: its lease was lost, or its work failed. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
}

/** As upstream without --tls-cert-file: a certificate of no one's, made at the start. */
const selfSigned = (name: string, address: string, clock: Clock): ServingFiles => {
  const authority = createAuthority({ commonName: `${name}-ca`, clock });
  const { certificatePem, privateKeyPem } = issueLeaf(openAuthority(authority), {
    subject: { commonName: name },
    usages: ['server'],
    alternativeNames: alternativeNames([address, 'localhost']),
    clock,
  });
  return { cert: certificatePem, key: privateKeyPem };
};

const loadServing = async (name: string, settings: ManagerSettings, clock: Clock): Promise<ServingFiles> => {
  const [certFile, keyFile] = [settings['tls-cert-file'], settings['tls-private-key-file']];
  const pair =
    certFile === '' ? selfSigned(name, settings['bind-address'], clock) : await readPair(certFile, keyFile);
  const caFile = settings['client-ca-file'];
  const proxyCaFile = settings['requestheader-client-ca-file'];
  return {
    ...pair,
    ...(caFile !== '' && { clientCa: await readAuthorities(caFile) }),
    ...(proxyCaFile !== '' && { frontProxyCa: await readAuthorities(proxyCaFile) }),
  };
};

const loadConfig = async (settings: ManagerSettings): Promise<ClientConfig> => {
  const config = await loadLastingKubeconfig(settings.kubeconfig);
  return settings.master === '' ? config : { ...config, servers: [settings.master] };
};

const frontProxyRules = (settings: ManagerSettings): FrontProxyRules => ({
  allowedNames: settings['requestheader-allowed-names'],
  usernameHeaders: settings['requestheader-username-headers'],
  uidHeaders: settings['requestheader-uid-headers'],
  groupHeaders: settings['requestheader-group-headers'],
  extraHeaderPrefixes: settings['requestheader-extra-headers-prefix'],
});

/** Clients of the kubeconfigs that review tokens and access; the manager's own where they name no other. */
const reviewersOf = async (
  settings: ManagerSettings,
  own: Client,
  connectTo: (kubeconfig: string) => Promise<Client>,
): Promise<Reviewers> => {
  const reviewer = (file: string): Promise<Client> =>
    file === '' || file === settings.kubeconfig ? Promise.resolve(own) : connectTo(file);
  return {
    authentication: await reviewer(settings['authentication-kubeconfig']),
    authorization: await reviewer(settings['authorization-kubeconfig']),
  };
};

/** A manager in the foreground: its secure port, its lease, and its work while it holds the lease. */
export const runManager = async (options: ManagerOptions): Promise<RunningManager> => {
  const { name, settings, log } = options;
  const [clock, random] = [systemClock, systemRandom];
  const owned = new DisposableStore();
  const registry = new Registry();
  const health = new HealthRegistry(log);
  const config = await loadConfig(settings);
  const [qps, burst] = [settings['kube-api-qps'], settings['kube-api-burst']];
  const client = connect(config, {
    clock,
    random,
    log,
    registry,
    userAgent: `${name}/${options.version}`,
    // As upstream: a manager works on deprecated kinds too, and no one who reads its log can change that.
    onWarning: () => undefined,
    ...(qps > 0 && { rateLimit: { qps, burst: Math.max(burst, qps) } }),
  });
  owned.add(client);

  const reviewerFor = async (kubeconfig: string): Promise<Client> =>
    owned.add(
      connect(await loadLastingKubeconfig(kubeconfig), {
        clock,
        random,
        log,
        userAgent: `${name}/${options.version}`,
        onWarning: () => undefined,
      }),
    );

  let rejectFailed: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => (rejectFailed = reject));
  failed.catch(() => undefined);
  const stop = lastingController();
  let port: number | undefined;
  let closeServer: () => Promise<void> = () => Promise.resolve();
  if (settings['secure-port'] > 0) {
    for (const suite of weakSuitesIn(settings['tls-cipher-suites']))
      log.write('warn', 'insecure cipher suite enabled by --tls-cipher-suites', { suite });
    const server = createSecureServer({
      serving: await loadServing(name, settings, clock),
      tls: tlsSettingsOf(settings),
      health,
      metrics: registry,
      ...(options.pages && { pages: options.pages }),
      access: delegatedAccess(await reviewersOf(settings, client, reviewerFor), clock, {
        tokenMs: settings['authentication-token-webhook-cache-ttl'],
        allowedMs: settings['authorization-webhook-cache-authorized-ttl'],
        deniedMs: settings['authorization-webhook-cache-unauthorized-ttl'],
      }),
      openPaths: settings['authorization-always-allow-paths'],
      frontProxy: frontProxyRules(settings),
      clock,
      log,
    });
    ({ port } = await server.listen(settings['secure-port'], settings['bind-address']));
    closeServer = () => server.close();
    const reload = (): void => {
      loadServing(name, settings, clock).then((serving) => server.setServing(serving), problem);
    };
    const problem = (error: unknown): void =>
      log.write('warn', 'renewed certificate cannot be used; the old one stays', { error: messageOf(error) });
    const files = [
      settings['tls-cert-file'],
      settings['tls-private-key-file'],
      settings['client-ca-file'],
      settings['requestheader-client-ca-file'],
    ];
    owned.add(watchFiles(files, clock, reload, problem));
  }

  // As in a container: the machine of a component is the one it is told, and only without that the one it runs on.
  const identity = `${process.env['HOSTNAME'] || hostname()}_${randomUUID()}`;
  const context = { config, clock, random, log, registry, health, identity };
  const working = async (): Promise<void> => {
    if (!settings['leader-elect']) {
      const [fence, settled] = [(other: Client) => other.fenced(stop.signal), () => Promise.resolve()];
      await options.lead({ ...context, client, fence, settled }, stop.signal);
      return;
    }
    const end = await runElection(
      {
        client,
        clock,
        random,
        log,
        registry,
        lease: {
          namespace: settings['leader-elect-resource-namespace'],
          name: settings['leader-elect-resource-name'],
        },
        identity,
        leaseDurationSeconds: settings['leader-elect-lease-duration'] / 1000,
        renewDeadlineSeconds: settings['leader-elect-renew-deadline'] / 1000,
        retryPeriodSeconds: settings['leader-elect-retry-period'] / 1000,
        lead: ({ client: fenced, fence, settled, signal }) =>
          options.lead({ ...context, client: fenced, fence, settled }, signal),
        onNewLeader: (holder) => log.write('info', 'the lease has a holder', { holder }),
      },
      stop.signal,
    );
    // As upstream: who lost the lease starts over with empty hands.
    if (end !== 'stopped') throw new ReasonError('LeaseLost', `${name} lost its lease (${end})`);
  };
  const done = working().catch((error: unknown) => {
    if (!stop.signal.aborted) rejectFailed(error);
  });
  return {
    registry,
    port,
    failed,
    async close() {
      stop.abort(new Error(`${name} stops`));
      await done;
      await closeServer();
      owned.dispose();
    },
  };
};
