import { messageOf } from '../../base/errors.ts';
import { isConflict, isNotFound, parseTime } from '../../api/meta/index.ts';
import {
  CONFIG_MAP,
  POD,
  SECRET,
  SERVICE_ACCOUNT,
  type Pod,
  type Secret,
  type Stored,
} from '../../client/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { repeat } from '../runtime/work-loop.ts';
import { NAME_ANNOTATION, TOKEN_SECRETS, UID_ANNOTATION } from './token-secrets.ts';

const DAY_MS = 86_400_000;
const LAST_USED_LABEL = 'kubernetes.io/legacy-token-last-used';
const INVALID_SINCE_LABEL = 'kubernetes.io/legacy-token-invalid-since';
const TRACKING = { namespace: 'kube-system', name: 'kube-apiserver-legacy-service-account-token-tracking' };
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Dates are compared as texts, as upstream does. */
const dateOf = (atMs: number): string => new Date(atMs).toISOString().slice(0, 'yyyy-mm-dd'.length);
const isDate = (text: string): boolean => DATE.test(text) && !Number.isNaN(Date.parse(text));

export type TokenVerdict = 'keep' | 'invalidate' | 'delete';

/** What becomes of the secret of a token that an account lists, and that no pod names. */
export const verdictOn = ({ metadata }: Stored<Secret>, nowMs: number, periodMs: number): TokenVerdict => {
  const { creationTimestamp = '', deletionTimestamp, labels = {} } = metadata;
  const keptFrom = dateOf(nowMs - periodMs);
  const createdMs = parseTime(creationTimestamp ?? '') ?? nowMs;
  if (deletionTimestamp !== undefined || createdMs >= nowMs - periodMs) return 'keep';
  const lastUsed = labels[LAST_USED_LABEL];
  // Without the label it was not used since uses are tracked; one that is no date decides nothing.
  if (lastUsed !== undefined && (!isDate(lastUsed) || lastUsed >= keptFrom)) return 'keep';
  const invalidSince = labels[INVALID_SINCE_LABEL] ?? '';
  if (!isDate(invalidSince)) return 'invalidate';
  return invalidSince >= keptFrom ? 'keep' : 'delete';
};

/** Any mention counts: a token that is still mounted must not go. */
const isMentioned = (name: string, pods: readonly Stored<Pod>[]): boolean =>
  pods.some(({ spec }) => JSON.stringify(spec ?? {}).includes(JSON.stringify(name)));

/** Marks tokens that were generated for an account and not used for long as invalid, and later deletes them. */
export const legacyTokenCleaner: ControllerDefinition<ControllerSettings> = {
  name: 'legacy-serviceaccount-token-cleaner-controller',
  aliases: ['legacy-service-account-token-cleaner'],
  serviceAccount: 'legacy-service-account-token-cleaner',
  isOnByDefault: true,
  create(context, settings) {
    const { client, informers, clock, log } = context;
    const periodMs = settings['legacy-service-account-token-clean-up-period'];
    const accounts = informers.informer(SERVICE_ACCOUNT);
    const secrets = informers.informer(SECRET, TOKEN_SECRETS);
    const pods = informers.informer(POD);

    /** Since the day after: uses before it were not recorded. */
    const trackedSinceMs = async (): Promise<number> => {
      const tracking = await client.resource(CONFIG_MAP, TRACKING.namespace).get(TRACKING.name);
      const since = tracking.data?.['since'] ?? '';
      return isDate(since) ? Date.parse(since) + DAY_MS : Infinity;
    };
    const isGenerated = ({ metadata }: Stored<Secret>): boolean => {
      const { namespace = '', name, annotations = {} } = metadata;
      const account = accounts.store.get(`${namespace}/${annotations[NAME_ANNOTATION] ?? ''}`);
      const uid = annotations[UID_ANNOTATION] ?? '';
      if (!account || (uid !== '' && account.metadata.uid !== uid)) return false;
      return (account.secrets ?? []).some((reference) => reference.name === name);
    };
    const clean = async (secret: Stored<Secret>): Promise<void> => {
      const nowMs = clock.nowMs();
      const verdict = verdictOn(secret, nowMs, periodMs);
      if (verdict === 'keep' || !isGenerated(secret)) return;
      const { namespace = '', name, uid, resourceVersion } = secret.metadata;
      const own = pods.store.list().filter(({ metadata }) => metadata.namespace === namespace);
      if (isMentioned(name, own)) return;
      const resource = client.resource(SECRET, namespace);
      if (verdict === 'delete') await resource.delete(name, { preconditions: { uid, resourceVersion } });
      else
        await resource.patch(name, {
          type: 'merge',
          body: { metadata: { uid, labels: { [INVALID_SINCE_LABEL]: dateOf(nowMs) } } },
        });
      log.write('info', 'an unused service account token is cleaned up', { namespace, name, verdict });
    };
    return {
      run: (signal) =>
        repeat(context, DAY_MS, signal, async () => {
          const candidates = secrets.store.list();
          if (candidates.length === 0 || clock.nowMs() < (await trackedSinceMs()) + periodMs) return;
          for (const secret of candidates)
            await clean(secret).catch((error: unknown) => {
              if (isNotFound(error) || isConflict(error)) return;
              const { namespace, name } = secret.metadata;
              log.write('warn', 'a service account token could not be cleaned up', {
                namespace,
                name,
                error: messageOf(error),
              });
            });
        }),
    };
  },
};
