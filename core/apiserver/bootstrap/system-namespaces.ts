import type { KubernetesObject } from '../../api/meta/index.ts';
import { ensureObject } from './ensure.ts';
import type { ObjectWriter } from './object-writer.ts';

export const SYSTEM_NAMESPACES = ['kube-system', 'kube-public', 'kube-node-lease', 'default'] as const;

export const NAMESPACES = { group: '', resource: 'namespaces' };

const namespace = (name: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
});

/** Repeated each minute: a system namespace that was deleted comes back. */
export const ensureSystemNamespaces = async (writer: ObjectWriter): Promise<void> => {
  for (const name of SYSTEM_NAMESPACES) await ensureObject(writer, NAMESPACES, { object: namespace(name) });
};
