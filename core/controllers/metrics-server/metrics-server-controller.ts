import { readFile } from 'node:fs/promises';
import { DisposableStore } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import { readAuthorities, readPair, watchFiles } from '../../base/node/pem-files.ts';
import type { KubernetesObject } from '../../api/meta/index.ts';
import {
  API_SERVICE,
  ENDPOINT_SLICE,
  NODE,
  pause,
  POD,
  SERVICE,
  type Kind,
  type Node,
  type Stored,
} from '../../client/index.ts';
import { delegatedAccess } from '../../component/delegated-access.ts';
import { MetricsServer, scrapeNodes, serveMetrics, type ScrapeTarget } from '../../metrics-server/index.ts';
import { alternativeNames, issueLeaf, openAuthority } from '../../pki/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerContext, ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';
import {
  API_SERVICE_NAME,
  isOwn,
  NAME,
  NAMESPACE,
  publishedObjects,
  revised,
  SERVER_NAME,
  type PublishedPlace,
} from './published-objects.ts';

/** Whom kubelets see; its one right is to read their metrics. */
export const CLIENT_NAME = 'system:metrics-server';

const DAY_MS = 24 * 60 * 60_000;
const VALIDITY_MS = 7 * DAY_MS;
/** Certificates are issued again well before they expire. */
const RENEW_MS = 3 * DAY_MS;
const KUBELET_PORT = 10_250;

const targetsOf = (nodes: readonly Stored<Node>[]): ScrapeTarget[] =>
  nodes.flatMap(({ metadata: { name }, status }) => {
    const address = status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
    const port = status?.daemonEndpoints?.kubeletEndpoint?.Port ?? KUBELET_PORT;
    return address === undefined ? [] : [{ node: name, address, port }];
  });

/** Certificates of one term, made from the cluster's authority. */
const issue = async ({ clock }: ControllerContext, settings: ControllerSettings) => {
  const { cert, key } = await readPair(
    settings['cluster-signing-cert-file'],
    settings['cluster-signing-key-file'],
  );
  const authority = openAuthority({ certificatePem: cert.toString(), privateKeyPem: key.toString() });
  const rootFile = settings['root-ca-file'];
  const common = { clock, validityMs: VALIDITY_MS };
  return {
    // With the authorities of a rotation that is in progress.
    roots: rootFile === '' ? cert.toString() : await readFile(rootFile, 'utf8'),
    serving: issueLeaf(authority, {
      ...common,
      subject: { commonName: SERVER_NAME },
      usages: ['server'],
      alternativeNames: alternativeNames([SERVER_NAME, settings['bind-address']]),
    }),
    client: issueLeaf(authority, { ...common, subject: { commonName: CLIENT_NAME }, usages: ['client'] }),
    frontProxyCa: (await readAuthorities(settings['requestheader-client-ca-file'])).toString(),
  };
};

/** Serves metrics.k8s.io while it leads, and keeps the objects that lead API servers to it. */
export const metricsServerController: ControllerDefinition<ControllerSettings> = {
  name: 'metrics-server-controller',
  aliases: [],
  serviceAccount: 'metrics-server-controller',
  isOnByDefault: true,
  create(context, settings) {
    const port = settings['metrics-server-port'];
    const files = [
      settings['cluster-signing-cert-file'],
      settings['cluster-signing-key-file'],
      settings['requestheader-client-ca-file'],
    ];
    if (port === 0 || files.includes('')) return undefined;
    const { client, informers, clock, log } = context;
    const [nodes, pods] = [informers.informer(NODE), informers.informer(POD)];
    const [services, slices] = [informers.informer(SERVICE), informers.informer(ENDPOINT_SLICE)];
    const apiServices = informers.informer(API_SERVICE);
    const address = settings['bind-address'];
    let place: PublishedPlace | undefined;

    const ensure = async <T extends KubernetesObject>(
      kind: Kind<T>,
      stored: T | undefined,
      wanted: T,
      fields: readonly (keyof T)[],
    ): Promise<void> => {
      const resource = client.resource(kind, wanted.metadata?.namespace);
      if (stored === undefined) {
        await resource.create(wanted);
        return;
      }
      const next = revised(stored, wanted, fields);
      if (next) await resource.update(next);
    };

    const publish = async (): Promise<void> => {
      if (!place) return;
      const wanted = publishedObjects(place);
      const service = services.store.get(`${NAMESPACE}/${NAME}`);
      const slice = slices.store.get(`${NAMESPACE}/${NAME}`);
      const apiService = apiServices.store.get(API_SERVICE_NAME);
      if (![service, slice, apiService].every(isOwn)) {
        log.write(
          'info',
          'metrics.k8s.io is served by somebody else; the built-in metrics server is not published',
        );
        return;
      }
      await ensure(SERVICE, service, wanted.service, ['spec']);
      await ensure(ENDPOINT_SLICE, slice, wanted.slice, ['endpoints', 'ports']);
      await ensure(API_SERVICE, apiService, wanted.apiService, ['spec']);
    };

    /** One term: until the signal, the end of the certificates, or new files. */
    const serveTerm = async (signal: AbortSignal): Promise<void> => {
      const owned = new DisposableStore();
      const { roots, serving, client: identity, frontProxyCa } = await issue(context, settings);
      const metrics = owned.add(
        new MetricsServer(
          {
            list: (resource, namespace) =>
              resource === 'nodes'
                ? nodes.store.list()
                : namespace === ''
                  ? pods.store.list()
                  : pods.store.inNamespace(namespace),
            find: (resource, namespace, name) =>
              resource === 'nodes' ? nodes.store.get(name) : pods.store.find(namespace, name),
            scrape: () =>
              scrapeNodes(targetsOf(nodes.store.list()), {
                tls: () => ({ ca: roots, cert: identity.certificatePem, key: identity.privateKeyPem }),
                nowMs: () => clock.nowMs(),
                onFailed: ({ node }, error) =>
                  log.write('warn', 'failed to scrape a node', { node, error: messageOf(error) }),
              }),
          },
          clock,
        ),
      );
      const ended = new AbortController();
      const end = (): void => ended.abort();
      signal.addEventListener('abort', end, { once: true });
      owned.defer(() => signal.removeEventListener('abort', end));
      const watched = [...files, settings['root-ca-file']].filter((file) => file !== '');
      owned.add(watchFiles(watched, clock, end, end));
      try {
        const listener = await serveMetrics(
          {
            metrics,
            access: delegatedAccess({ authentication: undefined, authorization: client }, clock),
            frontProxy: {
              allowedNames: settings['requestheader-allowed-names'],
              usernameHeaders: settings['requestheader-username-headers'],
              uidHeaders: settings['requestheader-uid-headers'],
              groupHeaders: settings['requestheader-group-headers'],
              extraHeaderPrefixes: settings['requestheader-extra-headers-prefix'],
            },
            serving: { cert: serving.certificatePem, key: serving.privateKeyPem, frontProxyCa },
            clock,
            log,
          },
          { host: address, port },
        );
        place = { address, port: listener.address.port, authority: roots };
        loop.queue.add(NAME);
        await pause(clock, RENEW_MS, ended.signal).catch(() => undefined);
        await listener.close();
      } finally {
        owned.dispose();
      }
    };

    const loop = workLoop(context, {
      name: 'metrics_server',
      workers: 1,
      handle: () => publish(),
      async beside(signal) {
        while (!signal.aborted)
          await serveTerm(signal).catch(async (error: unknown) => {
            log.write('warn', 'the metrics server could not be started', { error: messageOf(error) });
            await pause(clock, 5_000, signal).catch(() => undefined);
          });
      },
    });
    const touch = (object: { readonly metadata: { readonly name: string } }): void => {
      if (object.metadata.name === NAME || object.metadata.name === API_SERVICE_NAME) loop.queue.add(NAME);
    };
    for (const informer of [services, slices, apiServices])
      informer.addHandler({ updated: (_, object) => touch(object), deleted: touch });
    return loop;
  },
};
