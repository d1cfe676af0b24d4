import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { PORTS } from '../../base/bind-rules.ts';
import { DisposableStore } from '../../base/disposable.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { Registry as Metrics } from '../../base/metrics/index.ts';
import { exposeProcess } from '../../base/node/process-metrics.ts';
import { systemClock } from '../../base/node/clock.ts';
import { systemRandom } from '../../base/node/random.ts';
import { loadAdmissionConfiguration } from '../admission/admission-configuration.ts';
import { createRemoteClient, type RemoteClient } from '../aggregation/index.ts';
import { startAudit, type Audit } from '../audit/index.ts';
import { APISERVER_USER, labelLastUsed, registryWriter, startBootstrap } from '../bootstrap/index.ts';
import type { ApiServerConfig } from '../config/config.ts';
import { DiscoveryCatalog } from '../discovery/catalog.ts';
import { Extensions } from '../extensions/extensions.ts';
import type { ObjectRegistry } from '../registry/create-registry.ts';
import { connectionStage } from '../server/connection-stage.ts';
import { createApiServer, type ApiServer } from '../server/api-server.ts';
import { HealthRegistry } from '../../component/health.ts';
import { TraceRing } from '../server/trace.ts';
import type { Stage } from '../server/pipeline.ts';
import { tlsFromFiles } from '../storage/etcd-client/index.ts';
import { createServiceResolver } from '../webhook/service-resolver.ts';
import { createWebhookClient } from '../webhook/webhook-client.ts';
import { loadAuthenticationSettings } from './authentication-settings.ts';
import { createAuthentication } from './authentication.ts';
import { createAuthorization } from './authorization.ts';
import {
  checkProxyClient,
  loadCertificates,
  loadTokenKeys,
  type LoadedCertificates,
} from './certificates.ts';
import { createFlowControl } from './flow-control.ts';
import { followCaches, type FollowedCaches } from './followed-caches.ts';
import { createObjectAdmission } from './object-admission.ts';
import { createObjectRegistry } from './object-registry.ts';
import { openObjectStore } from './object-store.ts';
import { followCertificates } from './renewed-certificates.ts';
import { requestStages } from './request-stages.ts';
import { exposeObjectCounts } from './storage-metrics.ts';
import type { Surroundings } from './surroundings.ts';

export interface RunningApiServer {
  readonly address: AddressInfo;
  readonly metrics: Metrics;
  /** Rejects when the server must end on its own: it could not set the cluster up. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
}

/** Everything that the flags name and that must be right before anything is opened. */
const loadFiles = async (config: ApiServerConfig) => {
  const [certificates, keys, settings, admissionConfiguration] = await Promise.all([
    loadCertificates(config),
    loadTokenKeys(config),
    loadAuthenticationSettings(config),
    loadAdmissionConfiguration(config.admission.configurationFile),
  ]);
  await checkProxyClient(config, certificates);
  return { certificates, keys, settings, admissionConfiguration };
};

const openAudit = ({ config, metrics, clock, log }: Surroundings, owned: DisposableStore) =>
  startAudit({
    settings: config.audit,
    webhookClient: () =>
      owned.add(createWebhookClient({ clock, resolve: () => Promise.reject(new Error('no Service')) })),
    metrics,
    clock,
    log,
  });

/** Calls aggregated API servers with the identity of the front proxy. */
const createRemotes = ({ config, random }: Surroundings, { reader }: ObjectRegistry): RemoteClient => {
  const { certFile, keyFile } = config.aggregator;
  return createRemoteClient({
    resolve: createServiceResolver({
      reader,
      random,
      advertiseAddress: config.advertiseAddress,
      ownPorts: [PORTS.metricsServer],
    }),
    identity: tlsFromFiles(certFile === '' ? {} : { certFile, keyFile }),
  });
};

const createServer = (
  { config, health, metrics, clock, log }: Surroundings,
  {
    certificates,
    stages,
    traces,
  }: {
    readonly certificates: LoadedCertificates;
    readonly stages: readonly Stage[];
    readonly traces: TraceRing;
  },
): ApiServer =>
  createApiServer({
    certificates: certificates.serving,
    stages,
    health,
    metrics,
    clock,
    log,
    traces,
    tls: config.tls,
    limits: {
      requestTimeoutMs: config.requestTimeoutMs,
      streamsPerConnectionMax: config.streamsPerConnectionMax,
    },
  });

const listen = (server: ApiServer, { bindAddress, securePort }: ApiServerConfig): Promise<AddressInfo> =>
  server.listen(securePort, bindAddress).catch((cause: unknown) => {
    throw new ReasonError(
      'CannotListen',
      `cannot listen on ${bindAddress}:${securePort} (--bind-address, --secure-port): ${messageOf(cause)}`,
      { cause },
    );
  });

/** Opens every part in the order of its needs; `owned` closes them in the reverse order. */
const assemble = async (surroundings: Surroundings, owned: DisposableStore): Promise<RunningApiServer> => {
  const { config, metrics, health, clock, log } = surroundings;
  const { minor, gates, advertiseAddress, serviceRanges: serviceCidrs } = config;
  for (const warning of gates.warnings) log.write('warn', warning);
  const files = await loadFiles(config);
  const { certificates, keys } = files;
  let rejectFailed: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => (rejectFailed = reject));
  failed.catch(() => undefined);

  const { store } = owned.add(await openObjectStore(surroundings));
  const audit: Audit | undefined = await openAudit(surroundings, owned);
  const reader = (): ObjectRegistry['reader'] => registry.reader;
  const authentication = owned.add(
    createAuthentication({
      ...surroundings,
      ...files,
      reader,
      labelLastUsed: (secret, date) => labelLastUsed(writer, secret, date),
    }),
  );
  const authorization = owned.add(await createAuthorization(surroundings));
  const { authorizer } = authorization;
  const registry = createObjectRegistry(surroundings, { store, authentication, authorization });
  owned.defer(() => registry.close());
  owned.add(exposeObjectCounts(metrics, registry));
  const life = new AbortController();
  owned.defer(() => life.abort());
  const writer = registryWriter({ registry, clock, minor, signal: life.signal });
  const admission = owned.add(
    createObjectAdmission(surroundings, {
      registry,
      writer,
      authorizer,
      configuration: files.admissionConfiguration,
      convertCustom: (objects, resource) => extensions.inVersion(objects, resource),
    }),
  );
  const flowControl = owned.add(createFlowControl({ ...surroundings, registry: () => registry }));
  const catalog = new DiscoveryCatalog(minor);
  const { webhooks, dynamic, chain } = admission;
  const extensions: Extensions = owned.add(
    new Extensions({ registry, catalog, minor, user: APISERVER_USER, webhooks, clock, log }),
  );
  const traces = new TraceRing(Math.max(1, config.tracesMax));
  const remotes = createRemotes(surroundings, registry);
  const connection = connectionStage({ ...config, random: surroundings.random });
  const stages = requestStages(surroundings, {
    connection,
    ...{
      audit,
      authentication,
      authorizer,
      flowControl,
      keys,
      registry,
      catalog,
      extensions,
      remotes,
      traces,
    },
    admission: chain,
    aggregator: () => caches.aggregator,
  });
  const server = createServer(surroundings, { certificates, stages, traces });
  const renewed = owned.add(
    followCertificates(surroundings, certificates, (loaded) => {
      server.setCertificates(loaded.serving);
      authentication.setCertificates(loaded);
    }),
  );
  const caches: FollowedCaches = owned.add(
    followCaches(surroundings, {
      ...{ registry, authorization, flowControl, dynamic, extensions, remotes, catalog, writer },
      onFailed: rejectFailed,
    }),
  );
  const address = await listen(server, config);
  const bootstrap = startBootstrap({
    ...{ writer, store, health, clock, log, minor, gates, advertiseAddress, serviceCidrs },
    securePort: address.port,
    reconcilesEndpoints: config.endpointReconciler === 'lease',
    hostname: config.hostname || hostname(),
    instance: randomUUID(),
    authentication: () => renewed.clusterAuthentication(),
    onServers: (addresses) => connection.setServerCount(addresses.length),
    onFailed: (hook, cause) =>
      rejectFailed(
        new ReasonError('HookFailed', `post-start hook ${hook} failed: ${messageOf(cause)}`, { cause }),
      ),
  });
  return {
    address,
    metrics,
    failed,
    async close() {
      await bootstrap.stop();
      await server.shutdown({ delayMs: config.shutdownDelayMs });
      await audit?.close();
      owned.dispose();
    },
  };
};

/** One API server over this machine's clock and network. */
export const runApiServer = async (config: ApiServerConfig, log: Log): Promise<RunningApiServer> => {
  const metrics = new Metrics();
  const health = new HealthRegistry(log);
  exposeProcess(metrics);
  for (const suite of config.weakCipherSuites)
    log.write('warn', 'a weak cipher suite is allowed by --tls-cipher-suites', { suite });
  const owned = new DisposableStore();
  try {
    return await assemble({ config, metrics, health, clock: systemClock, random: systemRandom, log }, owned);
  } catch (error) {
    owned.dispose();
    throw error;
  }
};
