import { existsSync } from 'node:fs';
import { isAlreadyExists } from '../../api/meta/status.ts';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import { NODE, STORAGE_CLASS, type Client } from '../../client/index.ts';
import { CONTROL_PLANE_LABEL, EXCLUDED_FROM_LOAD_BALANCERS_LABEL } from '../config/labels.ts';
import { addonsFile } from '../data-folder/layout.ts';

/** A node may not give itself this label; kubeadm does it, with the rights of an administrator. */
export const markControlPlanes = async (client: Client, names: readonly string[]): Promise<void> => {
  for (const name of names) {
    const node = await client.resource(NODE).get(name);
    if (node.metadata.labels?.[CONTROL_PLANE_LABEL] !== undefined) continue;
    const labels = { [CONTROL_PLANE_LABEL]: '', [EXCLUDED_FROM_LOAD_BALANCERS_LABEL]: '' };
    await client.resource(NODE).patch(name, { type: 'merge', body: { metadata: { labels } } });
  }
};

const LOCAL_STORAGE = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: {
    name: 'local',
    annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
  },
  provisioner: 'pilothouse.dev/local',
  reclaimPolicy: 'Delete',
  volumeBindingMode: 'WaitForFirstConsumer',
} as const;

/** What a new cluster is given once: whoever deletes it does not find it again after a restart. */
export const installAddons = async (client: Client, dataDirectory: string): Promise<void> => {
  const file = addonsFile(dataDirectory);
  if (existsSync(file)) return;
  try {
    await client.resource(STORAGE_CLASS).create(LOCAL_STORAGE);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  await writeFileAtomically(file, `${JSON.stringify({ installed: ['storageclass/local'] })}\n`);
};
