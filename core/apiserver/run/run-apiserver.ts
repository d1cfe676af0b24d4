import { randomUUID, X509Certificate } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { PORTS } from '../../base/bind-rules.ts';
import type { Clock } from '../../base/clock.ts';
import { DisposableStore } from '../../base/disposable.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { Registry as Metrics } from '../../base/metrics/index.ts';
import { exposeProcess } from '../../base/node/process-metrics.ts';
import { systemClock } from '../../base/node/clock.ts';
import { watchFiles } from '../../base/node/pem-files.ts';
import { systemRandom } from '../../base/node/random.ts';
import { pathNotFound } from '../../api/meta/index.ts';
import {
  builtInPlugins,
  createAdmissionChain,
  createDynamicAdmission,
  selectPlugins,
} from '../admission/index.ts';
import { loadAdmissionConfiguration } from '../admission/admission-configuration.ts';
import { createKindFinder } from '../admission/kind-finder.ts';
import { Aggregator, aggregationStage, createRemoteClient } from '../aggregation/index.ts';
import {
  authorizationStage,
  escalationGuard,
  impersonationStage,
  subjectRulesStatus,
} from '../authz/index.ts';
import {
  APISERVER_USER,
  apiServerId,
  registryWriter,
  startBootstrap,
  startPolicyFeed,
  type ClusterAuthentication,
} from '../bootstrap/index.ts';
import { startAudit } from '../audit/index.ts';
import type { ApiServerConfig } from '../config/config.ts';
import { DiscoveryCatalog, discoveryStage } from '../discovery/index.ts';
import { definitionErrors, Extensions } from '../extensions/extensions.ts';
import { createFlowControl } from './flow-control.ts';
import { apiStage } from '../handlers/index.ts';
import { createInternalInformer } from '../informer/internal-informer.ts';
import { plainValues, startEncryption } from '../encryption/index.ts';
import { createKubeletProxy } from '../kubelet-proxy/kubelet-proxy.ts';
import { createRegistry, type Registry } from '../registry/index.ts';
import { connectionStage } from '../server/connection-stage.ts';
import { createApiServer, endpointsStage, HealthRegistry, TraceRing, type Stage } from '../server/index.ts';
import { tracesStage } from '../server/traces-stage.ts';
import { EtcdClient, EtcdStore, startCompactor, tlsFromFiles, TransformedStore } from '../storage/index.ts';
import { createServiceResolver } from '../webhook/service-resolver.ts';
import { createWebhookClient } from '../webhook/webhook-client.ts';
import { issuerDocumentsStage } from '../authn/index.ts';
import { loadAuthenticationSettings } from './authentication-settings.ts';
import { createAuthentication } from './authentication.ts';
import { createAuthorization } from './authorization.ts';
import {
  certificateFiles,
  checkProxyClient,
  loadCertificates,
  loadTokenKeys,
  type LoadedCertificates,
} from './certificates.ts';
import { etcdCheck } from './etcd-check.ts';
import { exposeObjectCounts, meteredStore } from './storage-metrics.ts';
import { versionInfo } from './version.ts';

export interface RunningApiServer {
  readonly address: AddressInfo;
  readonly metrics: Metrics;
  /** Rejects when the server must end on its own: it could not set the cluster up. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
}

const POLICIES = { group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicies' };

const notFoundStage: Stage = {
  name: 'not-found',
  run() {
    throw pathNotFound();
  },
};

const clusterAuthentication = (
  { frontProxy }: ApiServerConfig,
  { clientCaPem, frontProxyCaPem }: LoadedCertificates,
  clock: Clock,
): ClusterAuthentication => ({
  clientCa: clientCaPem,
  requestHeader: frontProxyCaPem === '' ? undefined : { ...frontProxy, ca: frontProxyCaPem },
  isExpired: (pem) => Date.parse(new X509Certificate(pem).validTo) < clock.nowMs(),
});

/** One API server over this machine's clock and network. */
export const runApiServer = async (config: ApiServerConfig, log: Log): Promise<RunningApiServer> => {
  const [clock, random] = [systemClock, systemRandom];
  const owned = new DisposableStore();
  const [certificates, keys, settings, admissionConfiguration] = await Promise.all([
    loadCertificates(config),
    loadTokenKeys(config),
    loadAuthenticationSettings(config),
    loadAdmissionConfiguration(config.admission.configurationFile),
  ]);
  await checkProxyClient(config, certificates);
  for (const suite of config.weakCipherSuites)
    log.write('warn', 'a weak cipher suite is allowed by --tls-cipher-suites', { suite });
  const metrics = new Metrics();
  const health = new HealthRegistry(log);
  let rejectFailed: (error: unknown) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => (rejectFailed = reject));
  failed.catch(() => undefined);

  const encryption =
    config.encryption.configFile === ''
      ? undefined
      : await startEncryption({
          file: config.encryption.configFile,
          isReloaded: config.encryption.isReloaded,
          apiServerId: apiServerId(config.hostname || hostname()),
          metrics,
          clock,
          log,
        });
  if (encryption !== undefined) {
    owned.add(encryption);
    health.add({ name: 'kms-providers', check: () => encryption.check() });
  }
  const audit = await startAudit({
    settings: config.audit,
    webhookClient: () =>
      owned.add(createWebhookClient({ clock, resolve: () => Promise.reject(new Error('no Service')) })),
    metrics,
    clock,
    log,
  }).catch((error: unknown) => {
    owned.dispose();
    throw error;
  });
  const { caFile, certFile, keyFile, servers, compactionIntervalMs } = config.etcd;
  const client = new EtcdClient({
    endpoints: servers,
    tls: tlsFromFiles({
      ...(caFile !== '' && { caFile }),
      ...(certFile !== '' && { certFile, keyFile }),
    }),
    clock,
    random,
    log,
  });
  owned.defer(() => client.close());
  const metered = meteredStore(new EtcdStore(client, { clock }), { metrics, clock, minor: config.minor });
  const store = new TransformedStore(metered, encryption ?? plainValues);
  if (compactionIntervalMs > 0)
    owned.add(startCompactor({ client, clock, log, intervalMs: compactionIntervalMs }));

  const authentication = createAuthentication({
    config,
    certificates,
    keys,
    settings,
    reader: () => registry.reader,
    metrics,
    clock,
    log,
  });
  owned.add(authentication);
  const authorization = owned.add(await createAuthorization({ config, metrics, clock, log }));
  const { authorizer, policy, graph } = authorization;
  const { tokenSecondsMax } = config.serviceAccounts;
  const { caFile: kubeletCaFile, certFile: kubeletCertFile, keyFile: kubeletKeyFile } = config.kubelet;
  const kubeletTls = tlsFromFiles({
    ...(kubeletCaFile !== '' && { caFile: kubeletCaFile }),
    ...(kubeletCertFile !== '' && { certFile: kubeletCertFile, keyFile: kubeletKeyFile }),
  });
  const registry: Registry = createRegistry({
    store,
    minor: config.minor,
    clock,
    random,
    log,
    guard: escalationGuard(policy, authorizer),
    eventTtlSeconds: config.eventTtlSeconds,
    serviceCidrs: config.serviceRanges,
    nodePorts: config.nodePorts,
    allowPrivileged: config.allowPrivileged,
    checkDefinition: (definition, before) => definitionErrors(definition, before, config.minor),
    authorizer,
    rulesFor: (user, namespace) => subjectRulesStatus(policy, user, namespace),
    reviewToken: authentication.reviewToken,
    signToken: authentication.sign,
    ...(tokenSecondsMax > 0 && { tokenExpirationSecondsMax: tokenSecondsMax }),
    kubelets: createKubeletProxy({
      reader: {
        get: (...args) => registry.reader.get(...args),
        list: (...args) => registry.reader.list(...args),
      },
      // Without an authority to check them by, as upstream without --kubelet-certificate-authority.
      tls: () => ({ ...kubeletTls(), rejectUnauthorized: kubeletCaFile !== '' }),
      random,
      advertiseAddress: config.advertiseAddress,
      addressTypes: config.kubelet.addressTypes,
      timeoutMs: config.kubelet.timeoutMs,
    }),
  });
  owned.defer(() => registry.close());
  owned.add(exposeObjectCounts(metrics, registry));
  exposeProcess(metrics);
  const life = new AbortController();
  owned.defer(() => life.abort());
  const writer = registryWriter({ registry, clock, minor: config.minor, signal: life.signal });
  const webhooks = owned.add(
    createWebhookClient({
      clock,
      resolve: createServiceResolver({
        reader: registry.reader,
        random,
        advertiseAddress: config.advertiseAddress,
      }),
    }),
  );
  const findResource = createKindFinder(config.minor, registry.reader);
  const dynamic = createDynamicAdmission({
    reader: registry.reader,
    authorizer,
    client: webhooks,
    findResource,
    minor: config.minor,
    writePolicyStatus: async (policy) => {
      await writer.update(POLICIES, policy, 'status');
    },
    clock,
    metrics,
    log,
  });
  const admission = createAdmissionChain(
    builtInPlugins(selectPlugins(config.admission.enabled, config.admission.disabled), {
      reader: registry.reader,
      quotaWriter: registry.quotaWriter,
      authorizer,
      dynamic,
      webhooks,
      createNamespace: async (name) => {
        await writer.create(
          { group: '', resource: 'namespaces' },
          { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
        );
      },
      findResource,
      configuration: admissionConfiguration,
      clock,
      random,
      minor: config.minor,
      tolerationSeconds: {
        notReadySeconds: config.admission.notReadySeconds,
        unreachableSeconds: config.admission.unreachableSeconds,
      },
    }),
    { clock, metrics, check: dynamic.check },
  );
  const flowControl = owned.add(createFlowControl({ config, registry: () => registry, metrics, clock }));
  const catalog = new DiscoveryCatalog(config.minor);
  const extensions = owned.add(
    new Extensions({ registry, catalog, minor: config.minor, user: APISERVER_USER, webhooks, clock, log }),
  );
  const traces = new TraceRing(Math.max(1, config.tracesMax));
  const version = versionInfo(config.minor);
  const { certFile: proxyCertFile, keyFile: proxyKeyFile } = config.aggregator;
  const remotes = createRemoteClient({
    resolve: createServiceResolver({
      reader: registry.reader,
      random,
      advertiseAddress: config.advertiseAddress,
      ownPorts: [PORTS.metricsServer],
    }),
    identity: tlsFromFiles(proxyCertFile === '' ? {} : { certFile: proxyCertFile, keyFile: proxyKeyFile }),
  });
  let aggregator: Aggregator | undefined;
  const stages: Stage[] = [
    ...(config.goawayChance > 0 || config.strictTransportSecurity.length > 0
      ? [connectionStage({ ...config, random })]
      : []),
    audit ? audit.authentication(authentication.stage) : authentication.stage,
    ...(audit ? [audit.stage] : []),
    impersonationStage(authorizer),
    flowControl.stage,
    authorizationStage({ authorizer, metrics, clock }),
    endpointsStage({ health, metrics, version }),
    ...flowControl.pages,
    issuerDocumentsStage({
      issuer: config.serviceAccounts.issuers[0]!,
      keysUrl: config.serviceAccounts.keysUrl,
      address: `${config.hostname || config.advertiseAddress}:${config.securePort}`,
      keys: keys.verification,
    }),
    tracesStage(traces),
    aggregationStage({
      client: remotes,
      find: (group, version) => aggregator?.find(group, version),
    }),
    discoveryStage({
      catalog,
      serverAddress: `${config.advertiseAddress}:${config.securePort}`,
      version: version.gitVersion,
      clock,
    }),
    apiStage({
      registry,
      admission,
      minor: config.minor,
      clock,
      random,
      log,
      metrics,
      authorizer,
      endpoints: extensions,
      watchTimeoutMinSeconds: config.watchTimeoutMinMs / 1000,
    }),
    notFoundStage,
  ];
  const server = createApiServer({
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
  health.add(etcdCheck(store, clock, config.etcd.healthTimeoutMs), ['healthz', 'livez']);
  health.add(etcdCheck(store, clock, config.etcd.readyTimeoutMs), ['readyz']);

  let loadedCertificates = certificates;
  const reload = (): void => {
    loadCertificates(config)
      .then((loaded) => {
        loadedCertificates = loaded;
        server.setCertificates(loaded.serving);
        authentication.setCertificates(loaded);
        log.write('info', 'certificates were renewed');
      })
      .catch(problem);
  };
  const problem = (error: unknown): void =>
    log.write('warn', 'renewed certificate cannot be used; the old one stays', { error: messageOf(error) });
  owned.add(watchFiles(certificateFiles(config), clock, reload, problem));

  let areCachesFilled = false;
  health.add(
    {
      name: 'informer-sync',
      check() {
        if (!areCachesFilled) throw new Error('caches are not filled yet');
      },
    },
    ['readyz'],
  );

  try {
    registry.start();
    const informer = owned.add(createInternalInformer({ registry, user: APISERVER_USER, clock, log }));
    owned.add(flowControl.follow(informer));
    const feed = owned.add(startPolicyFeed({ informer, policy, graph }));
    aggregator = owned.add(
      new Aggregator({
        informer,
        reader: registry.reader,
        writer,
        catalog,
        client: remotes,
        clock,
        log,
        metrics,
      }),
    );
    const followed = owned.add(dynamic.follow(informer));
    const custom = extensions.follow(informer);
    const filling = [registry.ready(), feed.ready, followed.ready, custom, aggregator.start(custom)];
    Promise.all(filling).then(() => {
      areCachesFilled = true;
      registry.warm();
    }, rejectFailed);
    const address = await server.listen(config.securePort, config.bindAddress).catch((cause: unknown) => {
      throw new ReasonError(
        'CannotListen',
        `cannot listen on ${config.bindAddress}:${config.securePort} (--bind-address, --secure-port): ${messageOf(cause)}`,
        { cause },
      );
    });
    const bootstrap = startBootstrap({
      writer,
      store,
      health,
      clock,
      log,
      minor: config.minor,
      advertiseAddress: config.advertiseAddress,
      securePort: address.port,
      serviceCidrs: config.serviceRanges,
      reconcilesEndpoints: config.endpointReconciler === 'lease',
      hostname: config.hostname || hostname(),
      instance: randomUUID(),
      authentication: () => clusterAuthentication(config, loadedCertificates, clock),
      onFailed: (hook, error) =>
        rejectFailed(
          new ReasonError('HookFailed', `post-start hook ${hook} failed: ${messageOf(error)}`, {
            cause: error,
          }),
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
  } catch (error) {
    owned.dispose();
    throw error;
  }
};
