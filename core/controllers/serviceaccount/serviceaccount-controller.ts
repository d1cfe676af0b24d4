import { isAlreadyExists, isStatusError, type StatusError } from '../../api/meta/index.ts';
import { NAMESPACE, SERVICE_ACCOUNT } from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';

const ACCOUNT_NAMES = ['default'] as const;
const WORKERS = 1;

/** The namespace began to go after the cache saw it: nothing can be made in it any more. */
export const isNamespaceTerminating = (error: unknown): error is StatusError =>
  isStatusError(error) &&
  (error.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating');

/** Sees to it that every active namespace has the account that pods run as unless they say otherwise. */
export const serviceAccountController: ControllerDefinition<ControllerSettings> = {
  name: 'serviceaccount-controller',
  aliases: ['serviceaccount'],
  serviceAccount: 'service-account-controller',
  isOnByDefault: true,
  create(context) {
    const { client, informers } = context;
    const namespaces = informers.informer(NAMESPACE);
    const accounts = informers.informer(SERVICE_ACCOUNT);
    const loop = workLoop(context, {
      name: 'serviceaccount',
      workers: WORKERS,
      async handle(namespace) {
        const found = namespaces.store.get(namespace);
        if (found?.status?.phase !== 'Active') return;
        for (const name of ACCOUNT_NAMES) {
          if (accounts.store.find(namespace, name)) continue;
          try {
            await client.resource(SERVICE_ACCOUNT, namespace).create({ metadata: { name, namespace } });
          } catch (error) {
            if (!isAlreadyExists(error) && !isNamespaceTerminating(error)) throw error;
          }
        }
      },
    });
    namespaces.addHandler({
      added: ({ metadata }) => loop.queue.add(metadata.name),
      updated: (_, { metadata }) => loop.queue.add(metadata.name),
    });
    accounts.addHandler({ deleted: ({ metadata }) => loop.queue.add(metadata.namespace ?? '') });
    return loop;
  },
};
