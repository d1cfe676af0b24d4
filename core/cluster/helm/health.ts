import { isJsonObject, type KubernetesObject } from '../../api/meta/index.ts';

export type Health = 'ok' | 'progressing' | 'failed' | 'missing' | 'unknown';

export interface ObjectHealth {
  readonly health: Health;
  /** `2/3`, the reason of a condition; empty where there is nothing to say. */
  readonly figures: string;
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (isJsonObject(value) ? value : {});
const countOf = (value: unknown): number => (typeof value === 'number' ? value : 0);

const conditionsOf = (status: Fields): readonly Fields[] =>
  Array.isArray(status['conditions']) ? status['conditions'].filter(isJsonObject) : [];

const ready = (have: number, want: number, isCurrent: boolean): ObjectHealth => ({
  health: have >= want && isCurrent ? 'ok' : 'progressing',
  figures: `${have}/${want}`,
});

/** How one live object is, from its status alone. Kinds that say nothing of themselves are fine when they exist. */
export const healthOf = (object: KubernetesObject | undefined): ObjectHealth => {
  if (!object) return { health: 'missing', figures: '' };
  const { spec, status } = object as { spec?: unknown; status?: unknown };
  const [wanted, now] = [fieldsOf(spec), fieldsOf(status)];
  const observed = now['observedGeneration'];
  const isCurrent = observed === undefined || observed === object.metadata?.generation;
  const conditions = conditionsOf(now);
  const reasonOf = (type: string, value: string): string | undefined => {
    const found = conditions.find((one) => one['type'] === type && one['status'] === value);
    return found && String(found['reason'] ?? type);
  };
  switch (object.kind ?? '') {
    case 'Deployment': {
      const stuck = reasonOf('Progressing', 'False');
      const replicas = typeof wanted['replicas'] === 'number' ? wanted['replicas'] : 1;
      const told = ready(countOf(now['availableReplicas']), replicas, isCurrent);
      return stuck === undefined ? told : { health: 'failed', figures: stuck };
    }
    case 'StatefulSet':
    case 'ReplicaSet':
      return ready(
        countOf(now['readyReplicas']),
        typeof wanted['replicas'] === 'number' ? wanted['replicas'] : 1,
        isCurrent,
      );
    case 'DaemonSet':
      return ready(countOf(now['numberReady']), countOf(now['desiredNumberScheduled']), isCurrent);
    case 'Pod': {
      const phase = String(now['phase'] ?? '');
      if (phase === 'Failed') return { health: 'failed', figures: String(now['reason'] ?? phase) };
      const isReady = phase === 'Succeeded' || reasonOf('Ready', 'True') !== undefined;
      return { health: isReady ? 'ok' : 'progressing', figures: phase };
    }
    case 'Job': {
      const failed = reasonOf('Failed', 'True');
      if (failed !== undefined) return { health: 'failed', figures: failed };
      return { health: reasonOf('Complete', 'True') === undefined ? 'progressing' : 'ok', figures: '' };
    }
    case 'PersistentVolumeClaim':
      return { health: now['phase'] === 'Bound' ? 'ok' : 'progressing', figures: String(now['phase'] ?? '') };
    default: {
      const bad = reasonOf('Ready', 'False') ?? reasonOf('Available', 'False');
      return bad === undefined ? { health: 'ok', figures: '' } : { health: 'failed', figures: bad };
    }
  }
};
