import { isConflict, isNotFound } from '../../api/meta/index.ts';
import { RESOURCES, registryOf } from '../../api/scheme/index.ts';
import { kindFrom, type Client } from '../../client/index.ts';
import { minorOf } from '../config/config.ts';
import type { ClusterConfig } from '../config/config.ts';
import { etcdAccessOf, withAny } from '../etcd-operator/operations.ts';
import { storedObjects } from '../etcd-operator/stored-objects.ts';
import { resourceOfKey } from '../../apiserver/encryption/resource-of-key.ts';
import { parseGroupResource } from '../../apiserver/encryption/configuration.ts';
import type { GroupResource } from '../../api/meta/index.ts';

export interface WrittenAs {
  /** As in the configuration, wildcards included. */
  readonly resource: string;
  /** Empty: plain. */
  readonly prefix: string;
}

const covers = (rule: GroupResource, { group, resource }: GroupResource): boolean =>
  (rule.group === group && (rule.resource === resource || rule.resource === '*')) ||
  (rule.group === '*' && rule.resource === '*');

/** The first rule that covers a resource decides, as in the API server. */
const ruleOf = (rules: readonly WrittenAs[], resource: GroupResource): WrittenAs | undefined => {
  const exact = rules.find(({ resource: name }) => {
    const rule = parseGroupResource(name);
    return rule.group === resource.group && rule.resource === resource.resource;
  });
  return exact ?? rules.find(({ resource: name }) => covers(parseGroupResource(name), resource));
};

/** Keys whose values were not written by the rules as they are now. */
export const outdatedKeys = async (
  data: string,
  config: ClusterConfig,
  rules: readonly WrittenAs[],
): Promise<readonly string[]> =>
  withAny(etcdAccessOf(data, config), async (member) => {
    const found: string[] = [];
    for await (const { key, value } of storedObjects(member, { keysOnly: false })) {
      const resource = resourceOfKey(key);
      const rule = resource && ruleOf(rules, resource);
      if (rule === undefined) continue;
      const head = Buffer.from(value.buffer, value.byteOffset, Math.min(value.length, 256)).toString(
        'latin1',
      );
      if (rule.prefix === '' ? head.startsWith('k8s:enc:') : !head.startsWith(rule.prefix)) found.push(key);
    }
    return found;
  });

/**
 * Writes objects again as they are: an API server that reads a value with an old key writes it with the new one. An
 * object that somebody else changes or deletes meanwhile needs nothing more.
 */
export const rewriteObjects = async (
  client: Client,
  config: ClusterConfig,
  keys: readonly string[],
): Promise<number> => {
  const registry = registryOf(minorOf(config.spec.kubernetesVersion));
  let count = 0;
  for (const key of keys) {
    const type = [...registry.resources, ...RESOURCES].find(
      ({ storage }) => storage && key.startsWith(storage.prefix),
    );
    if (!type?.storage) continue;
    const parts = key.slice(type.storage.prefix.length).split('/');
    const [namespace, name] = type.namespaced ? parts : [undefined, parts[0]];
    if (name === undefined) continue;
    const resource = client.resource(kindFrom(type), namespace);
    try {
      await resource.update(await resource.get(name));
      count += 1;
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
  }
  return count;
};
