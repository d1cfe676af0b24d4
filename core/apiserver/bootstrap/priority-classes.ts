import type { KubernetesObject } from '../../api/meta/index.ts';
import { ensureObject } from './ensure.ts';
import type { ObjectWriter } from './object-writer.ts';

export const PRIORITY_CLASSES = { group: 'scheduling.k8s.io', resource: 'priorityclasses' };

const SYSTEM_CRITICAL_PRIORITY = 2_000_000_000;

const priorityClass = (name: string, value: number, description: string): KubernetesObject => ({
  apiVersion: 'scheduling.k8s.io/v1',
  kind: 'PriorityClass',
  metadata: { name },
  value,
  description,
});

export const SYSTEM_PRIORITY_CLASSES: readonly KubernetesObject[] = [
  priorityClass(
    'system-node-critical',
    SYSTEM_CRITICAL_PRIORITY + 1000,
    'Used for system critical pods that must not be moved from their current node.',
  ),
  priorityClass(
    'system-cluster-critical',
    SYSTEM_CRITICAL_PRIORITY,
    'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
  ),
];

export const ensureSystemPriorityClasses = async (writer: ObjectWriter): Promise<void> => {
  for (const object of SYSTEM_PRIORITY_CLASSES) await ensureObject(writer, PRIORITY_CLASSES, { object });
};
