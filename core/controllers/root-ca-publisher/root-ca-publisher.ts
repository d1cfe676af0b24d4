import { readAuthorities, watchFiles } from '../../base/node/pem-files.ts';
import { messageOf } from '../../base/errors.ts';
import { isAlreadyExists, isNotFound } from '../../api/meta/index.ts';
import { CONFIG_MAP, NAMESPACE } from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';
import { isNamespaceTerminating } from '../serviceaccount/serviceaccount-controller.ts';

export const ROOT_CA_CONFIG_MAP = 'kube-root-ca.crt';
const DESCRIPTION_ANNOTATION = 'kubernetes.io/description';
const DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the ' +
  'internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';
const WORKERS = 1;

/** Puts the cluster's authority where every pod finds it: a config map in each namespace. */
export const rootCaPublisher: ControllerDefinition<ControllerSettings> = {
  name: 'root-ca-certificate-publisher-controller',
  aliases: ['root-ca-cert-publisher'],
  serviceAccount: 'root-ca-cert-publisher',
  isOnByDefault: true,
  create(context, settings) {
    const file = settings['root-ca-file'];
    if (file === '') return undefined;
    const { client, informers, clock, log } = context;
    const namespaces = informers.informer(NAMESPACE);
    const published = informers.informer(CONFIG_MAP, {
      fieldSelector: `metadata.name=${ROOT_CA_CONFIG_MAP}`,
    });
    let bundle = '';
    const publish = async (namespace: string): Promise<void> => {
      if (namespaces.store.get(namespace)?.status?.phase !== 'Active') return;
      const held = published.store.find(namespace, ROOT_CA_CONFIG_MAP);
      const data = { 'ca.crt': bundle };
      const annotations = { ...held?.metadata.annotations, [DESCRIPTION_ANNOTATION]: DESCRIPTION };
      const resource = client.resource(CONFIG_MAP, namespace);
      if (!held) {
        await resource.create({ metadata: { name: ROOT_CA_CONFIG_MAP, namespace, annotations }, data });
        return;
      }
      const isRight =
        Object.keys(held.data ?? {}).length === 1 &&
        held.data?.['ca.crt'] === bundle &&
        held.metadata.annotations?.[DESCRIPTION_ANNOTATION] !== undefined;
      if (!isRight) await resource.update({ ...held, metadata: { ...held.metadata, annotations }, data });
    };
    const loop = workLoop(context, {
      name: 'root-ca-cert-publisher',
      workers: WORKERS,
      async handle(namespace) {
        try {
          await publish(namespace);
        } catch (error) {
          if (!isAlreadyExists(error) && !isNotFound(error) && !isNamespaceTerminating(error)) throw error;
        }
      },
    });
    const queueAll = (): void => namespaces.store.keys().forEach((name) => loop.queue.add(name));
    namespaces.addHandler({
      added: ({ metadata }) => loop.queue.add(metadata.name),
      updated: (_, { metadata }) => loop.queue.add(metadata.name),
    });
    published.addHandler({
      updated: (_, { metadata }) => loop.queue.add(metadata.namespace ?? ''),
      deleted: ({ metadata }) => loop.queue.add(metadata.namespace ?? ''),
    });
    const read = async (): Promise<void> => {
      bundle = (await readAuthorities(file, 'root authority')).toString('utf8');
      queueAll();
    };
    const complain = (error: unknown): void =>
      log.write('warn', 'the root authority could not be read again', { error: messageOf(error) });
    return {
      async run(signal) {
        await read();
        const watcher = watchFiles([file], clock, () => void read().catch(complain), complain);
        try {
          await loop.run(signal);
        } finally {
          watcher.dispose();
        }
      },
    };
  },
};
