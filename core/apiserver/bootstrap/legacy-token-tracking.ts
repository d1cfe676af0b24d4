import type { Clock } from '../../base/clock.ts';
import { isConflict, isJsonObject, isNotFound, type KubernetesObject } from '../../api/meta/index.ts';
import { LAST_USED_LABEL } from '../authn/legacy-token-tracking.ts';
import { ensureObject } from './ensure.ts';
import type { ObjectWriter } from './object-writer.ts';

const CONFIG_MAPS = { group: '', resource: 'configmaps' };
const SECRETS = { group: '', resource: 'secrets' };
const NAME = 'kube-apiserver-legacy-service-account-token-tracking';
const DATE = /^\d{4}-\d{2}-\d{2}$/;

const isDate = (value: unknown): boolean =>
  typeof value === 'string' && DATE.test(value) && !Number.isNaN(Date.parse(value));

/** Since when uses of tokens in secrets are recorded: the cleaner trusts no label before that day. */
export const ensureTokenTracking = async (writer: ObjectWriter, clock: Clock): Promise<void> => {
  const since = new Date(clock.nowMs()).toISOString().slice(0, 'yyyy-mm-dd'.length);
  await ensureObject(writer, CONFIG_MAPS, {
    object: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { namespace: 'kube-system', name: NAME },
      data: { since },
    },
    revise(stored) {
      const data = isJsonObject(stored['data']) ? stored['data'] : {};
      return isDate(data['since']) ? undefined : { ...stored, data: { ...data, since } };
    },
  });
};

/** Another write at the same moment is no loss: the next use records it. */
export const labelLastUsed = async (
  writer: ObjectWriter,
  secret: { readonly namespace: string; readonly name: string; readonly uid: string },
  date: string,
): Promise<void> => {
  const stored: KubernetesObject | undefined = await writer.get(SECRETS, secret.namespace, secret.name);
  if (stored?.metadata?.uid !== secret.uid) return;
  const labels = { ...stored.metadata.labels, [LAST_USED_LABEL]: date };
  try {
    await writer.update(SECRETS, { ...stored, metadata: { ...stored.metadata, labels } });
  } catch (error) {
    if (!isConflict(error) && !isNotFound(error)) throw error;
  }
};
