import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readAuthorities, readPem } from '../../base/node/pem-files.ts';
import { isConflict, isNotFound, objectKey, splitObjectKey } from '../../api/meta/index.ts';
import { SECRET, SERVICE_ACCOUNT, updateOnConflict } from '../../client/index.ts';
import type { Secret, ServiceAccount, Stored } from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';
import { legacyToken } from './legacy-token.ts';
import { NAME_ANNOTATION, TOKEN_SECRETS, UID_ANNOTATION } from './token-secrets.ts';

const RETRIES_MAX = 10;

const accountKeyOf = ({ metadata }: Stored<Secret>): string =>
  `${metadata.namespace ?? ''}/${metadata.annotations?.[NAME_ANNOTATION] ?? ''}`;

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/**
 * Fills secrets that ask for the token of an account, and deletes them with it. No one makes such secrets on its own
 * since 1.24. As upstream it must have the manager's own rights: what hands out tokens cannot need one.
 */
export const tokenController: ControllerDefinition<ControllerSettings> = {
  name: 'serviceaccount-token-controller',
  aliases: ['serviceaccount-token'],
  serviceAccount: '',
  isOnByDefault: true,
  create(context, settings) {
    const keyFile = settings['service-account-private-key-file'];
    if (keyFile === '') return undefined;
    const { client, informers, clock } = context;
    const accounts = informers.informer(SERVICE_ACCOUNT);
    const secrets = informers.informer(SECRET, {
      ...TOKEN_SECRETS,
      indexers: { account: (secret) => [accountKeyOf(secret)] },
    });
    let key: KeyObject;
    let authority = '';

    const remove = async ({ metadata }: Stored<Secret>): Promise<void> => {
      try {
        await client
          .resource(SECRET, metadata.namespace)
          .delete(metadata.name, { preconditions: { uid: metadata.uid } });
      } catch (error) {
        // Of another uid: another secret has the name now, and has its own event.
        if (!isNotFound(error) && !isConflict(error)) throw error;
      }
    };

    /** The account that a secret means; the cache may not have it yet, and a deletion cannot be taken back. */
    const accountOf = async (secret: Stored<Secret>): Promise<Stored<ServiceAccount> | undefined> => {
      const { namespace, annotations = {} } = secret.metadata;
      const name = annotations[NAME_ANNOTATION] ?? '';
      if (name === '') return undefined;
      const uid = annotations[UID_ANNOTATION] ?? '';
      const matches = (account: Stored<ServiceAccount> | undefined): boolean =>
        account !== undefined && (uid === '' || account.metadata.uid === uid);
      const cached = accounts.store.find(namespace, name);
      if (matches(cached)) return cached;
      const live = await client.resource(SERVICE_ACCOUNT, namespace).find(name);
      return matches(live) ? live : undefined;
    };

    const filled = (secret: Stored<Secret>, account: Stored<ServiceAccount>): Secret | undefined => {
      const { namespace = '', name, annotations = {} } = secret.metadata;
      const data = secret.data ?? {};
      const needs =
        (authority !== '' && data['ca.crt'] !== base64(authority)) ||
        !data['namespace'] ||
        !data['token'] ||
        annotations[UID_ANNOTATION] !== account.metadata.uid;
      if (!needs) return undefined;
      return {
        ...secret,
        metadata: {
          ...secret.metadata,
          annotations: {
            ...annotations,
            [NAME_ANNOTATION]: account.metadata.name,
            [UID_ANNOTATION]: account.metadata.uid,
          },
        },
        data: {
          ...data,
          ...(authority !== '' && { 'ca.crt': base64(authority) }),
          namespace: data['namespace'] || base64(namespace),
          token: data['token'] || base64(legacyToken(key, account, { name })),
        },
      };
    };

    const syncSecret = async (secret: Stored<Secret>): Promise<void> => {
      const account = await accountOf(secret);
      if (!account) return remove(secret);
      const next = filled(secret, account);
      if (next) await client.resource(SECRET, secret.metadata.namespace).update(next);
    };

    /** An account must not continue naming a secret that is gone. */
    const dropReference = async (namespace: string, name: string): Promise<void> => {
      const holders = accounts.store
        .inNamespace(namespace)
        .filter(({ secrets: named }) => named?.some((one) => one.name === name));
      for (const { metadata } of holders)
        await updateOnConflict(client.resource(SERVICE_ACCOUNT, namespace), metadata.name, {
          clock,
          change: (account) => {
            const kept = (account.secrets ?? []).filter((one) => one.name !== name);
            return kept.length === account.secrets?.length ? undefined : { ...account, secrets: kept };
          },
        });
    };

    const loop = workLoop(context, {
      name: 'serviceaccount_tokens_secret',
      workers: settings['concurrent-serviceaccount-token-syncs'],
      retriesMax: RETRIES_MAX,
      async handle(item) {
        const secret = secrets.store.get(item);
        const { namespace, name } = splitObjectKey(item);
        if (secret) await syncSecret(secret);
        else await dropReference(namespace, name);
      },
    });
    const queueOf = (account: Stored<ServiceAccount>): void => {
      for (const secret of secrets.store.byIndex('account', objectKey(account)))
        loop.queue.add(objectKey(secret));
    };
    accounts.addHandler({
      added: queueOf,
      updated: (_, account) => queueOf(account),
      deleted: queueOf,
    });
    secrets.addHandler({
      added: (secret) => loop.queue.add(objectKey(secret)),
      updated: (_, secret) => loop.queue.add(objectKey(secret)),
      deleted: (secret) => loop.queue.add(objectKey(secret)),
    });
    return {
      async run(signal) {
        key = createPrivateKey(await readPem(keyFile, 'key of service account tokens'));
        const file = settings['root-ca-file'];
        if (file !== '') authority = (await readAuthorities(file)).toString('utf8');
        await loop.run(signal);
      },
    };
  },
};
