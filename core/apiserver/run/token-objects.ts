import { isJsonObject, type GroupResource, type KubernetesObject } from '../../api/meta/index.ts';
import type { ObjectReader } from '../storage/object-reader.ts';
import { LAST_USED_LABEL } from '../authn/legacy-token-tracking.ts';
import type { TokenObjectGetter, TokenObjectKind } from '../authn/service-account-claims.ts';

const TOKEN_RESOURCES: Readonly<Record<TokenObjectKind, GroupResource>> = {
  ServiceAccount: { group: '', resource: 'serviceaccounts' },
  Pod: { group: '', resource: 'pods' },
  Secret: { group: '', resource: 'secrets' },
  Node: { group: '', resource: 'nodes' },
};

const NOT_NAMESPACED: readonly TokenObjectKind[] = ['Node'];

/** Set by the controller that cleans up unused tokens of secrets. */
const INVALID_SINCE_LABEL = 'kubernetes.io/legacy-token-invalid-since';

const secretNamesIn = ({ secrets }: KubernetesObject): readonly string[] =>
  (Array.isArray(secrets) ? (secrets as unknown[]) : []).flatMap((one) =>
    isJsonObject(one) && typeof one['name'] === 'string' ? [one['name']] : [],
  );

const tokenIn = ({ data }: KubernetesObject): string => {
  const encoded = isJsonObject(data) ? data['token'] : undefined;
  return typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString('utf8') : '';
};

/** The objects that tokens are bound to, from the caches; one that is not there yet is looked up in etcd. */
export const tokenObjects =
  (reader: () => ObjectReader): TokenObjectGetter =>
  async (kind, { namespace, name }) => {
    const resource = TOKEN_RESOURCES[kind];
    const where = NOT_NAMESPACED.includes(kind) ? '' : namespace;
    const object =
      (await reader().get(resource, where, name)) ??
      (await reader().get(resource, where, name, { live: true }));
    if (object === undefined) return undefined;
    const { uid = '', deletionTimestamp, labels } = object.metadata ?? {};
    return {
      uid,
      ...(kind === 'Secret' && {
        token: tokenIn(object),
        isMarkedInvalid: !!labels?.[INVALID_SINCE_LABEL],
        lastUsed: labels?.[LAST_USED_LABEL] ?? '',
      }),
      ...(kind === 'ServiceAccount' && { secretNames: secretNamesIn(object) }),
      ...(deletionTimestamp !== undefined && { deletedAtMs: Date.parse(deletionTimestamp) }),
    };
  };
