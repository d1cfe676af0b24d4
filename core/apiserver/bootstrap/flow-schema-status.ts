import type { Clock } from '../../base/clock.ts';
import {
  formatTime,
  isConflict,
  isNotFound,
  type GroupResource,
  type KubernetesObject,
} from '../../api/meta/index.ts';
import { objs, obj, str } from '../../api/validation/read.ts';
import type { ObjectWriter } from './object-writer.ts';

const GROUP = 'flowcontrol.apiserver.k8s.io';
const LEVELS: GroupResource = { group: GROUP, resource: 'prioritylevelconfigurations' };
const SCHEMAS: GroupResource = { group: GROUP, resource: 'flowschemas' };
const DANGLING = 'Dangling';
/** Lists of two small resources from the cache of this server. */
export const SCHEMA_STATUS_INTERVAL_MS = 10_000;

/** The schema with its condition as it should be; undefined where it is that already. */
const withCondition = (
  schema: KubernetesObject,
  levels: ReadonlySet<string>,
  now: string,
): KubernetesObject | undefined => {
  const level = str(obj(obj(schema, 'spec'), 'priorityLevelConfiguration'), 'name');
  const isFound = levels.has(level);
  const wanted = {
    type: DANGLING,
    status: isFound ? 'False' : 'True',
    reason: isFound ? 'Found' : 'NotFound',
    message: `This FlowSchema references the PriorityLevelConfiguration object named ${JSON.stringify(level)} ${isFound ? 'and it exists' : 'but there is no such object'}`,
  };
  const conditions = objs(obj(schema, 'status'), 'conditions');
  const known = conditions.find((condition) => str(condition, 'type') === DANGLING);
  const isSame = (['status', 'reason', 'message'] as const).every(
    (field) => known?.[field] === wanted[field],
  );
  if (isSame) return undefined;
  const others = conditions.filter((condition) => condition !== known);
  return { ...schema, status: { conditions: [...others, { ...wanted, lastTransitionTime: now }] } };
};

/** Tells of each flow schema whether its priority level exists, as `kubectl get flowschemas` shows it. */
export const ensureFlowSchemaStatus = async (writer: ObjectWriter, clock: Clock): Promise<void> => {
  const [levels, schemas] = await Promise.all([writer.list(LEVELS, ''), writer.list(SCHEMAS, '')]);
  const names = new Set(levels.map(({ metadata }) => metadata?.name ?? ''));
  const now = formatTime(clock.nowMs());
  for (const schema of schemas) {
    const changed = withCondition(schema, names, now);
    if (!changed) continue;
    try {
      await writer.update(SCHEMAS, changed, 'status');
    } catch (error) {
      // Another server was first, or the schema is gone: the next look tells.
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
  }
};
