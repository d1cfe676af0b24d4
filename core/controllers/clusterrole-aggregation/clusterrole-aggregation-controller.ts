import { isDeepStrictEqual } from 'node:util';
import { selectorFromObject } from '../../api/selector/index.ts';
import { CLUSTER_ROLE, type ClusterRole, type Stored } from '../../client/index.ts';
import type { V1PolicyRule } from '../../api/schema/index.ts';
import type { ControllerSettings } from '../config/config.ts';
import type { ControllerDefinition } from '../runtime/controller.ts';
import { workLoop } from '../runtime/work-loop.ts';

const WORKERS = 5;
const FIELD_MANAGER = 'clusterrole-aggregation-controller';

/** The rules of all selected roles, each once, in the order of their names. */
const aggregatedRules = (role: Stored<ClusterRole>, all: readonly Stored<ClusterRole>[]): V1PolicyRule[] => {
  const selectors = (role.aggregationRule?.clusterRoleSelectors ?? []).map((one) => selectorFromObject(one));
  const byName = [...all].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const rules: V1PolicyRule[] = [];
  for (const selector of selectors)
    for (const other of byName) {
      if (other.metadata.name === role.metadata.name || !selector.matches(other.metadata.labels)) continue;
      for (const rule of other.rules ?? [])
        if (!rules.some((known) => isDeepStrictEqual(known, rule))) rules.push(rule);
    }
  return rules;
};

/** Fills roles that are made of others: `admin`, `edit` and `view` grow with every role that is labelled for them. */
export const clusterRoleAggregationController: ControllerDefinition<ControllerSettings> = {
  name: 'clusterrole-aggregation-controller',
  aliases: ['clusterrole-aggregation'],
  serviceAccount: 'clusterrole-aggregation-controller',
  isOnByDefault: true,
  create(context) {
    const { client, informers } = context;
    const roles = informers.informer(CLUSTER_ROLE);
    const loop = workLoop(context, {
      name: 'ClusterRoleAggregator',
      workers: WORKERS,
      async handle(name) {
        const role = roles.store.get(name);
        if (!role?.aggregationRule) return;
        const rules = aggregatedRules(role, roles.store.list());
        if (isDeepStrictEqual(role.rules ?? [], rules)) return;
        await client
          .resource(CLUSTER_ROLE)
          .apply({ metadata: { name }, rules }, { fieldManager: FIELD_MANAGER, force: true });
      },
    });
    const queueAll = (): void => {
      for (const role of roles.store.list()) if (role.aggregationRule) loop.queue.add(role.metadata.name);
    };
    roles.addHandler({ added: queueAll, updated: queueAll, deleted: queueAll });
    return loop;
  },
};
