import { existsSync } from 'node:fs';
import { isAlreadyExists } from '../../api/meta/status.ts';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import {
  CLUSTER_ROLE,
  CLUSTER_ROLE_BINDING,
  LEASE,
  NODE,
  STORAGE_CLASS,
  type Client,
} from '../../client/index.ts';
import {
  CLOUD_CONTROLLER_MANAGER_BINDING,
  CLOUD_CONTROLLER_MANAGER_ROLE,
} from '../../cloud/config/access.ts';
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

/** A cloud brings the rights of its manager itself; without them it never leads. */
export const ensureCloudAccess = async (client: Client): Promise<void> => {
  const made = [
    client.resource(CLUSTER_ROLE).create(CLOUD_CONTROLLER_MANAGER_ROLE),
    client.resource(CLUSTER_ROLE_BINDING).create(CLOUD_CONTROLLER_MANAGER_BINDING),
  ];
  for (const outcome of await Promise.allSettled(made))
    if (outcome.status === 'rejected' && !isAlreadyExists(outcome.reason)) throw outcome.reason;
};

/** Components of which one leads, by the names of their leases. */
export const ELECTED_COMPONENTS: readonly string[] = [
  'kube-controller-manager',
  'kube-scheduler',
  'cloud-controller-manager',
];

/** Gives up the leases whose holders have not been heard of since; as their holders would have, had they stopped. */
export const releaseDeadLeases = async (client: Client, sinceMs: number): Promise<void> => {
  const leases = client.resource(LEASE, 'kube-system');
  for (const { metadata, spec } of (await leases.list()).items) {
    const isElected = ELECTED_COMPONENTS.includes(metadata.name);
    if (!isElected || !spec?.holderIdentity || Date.parse(spec.renewTime ?? '') >= sinceMs) continue;
    await leases.patch(metadata.name, {
      type: 'merge',
      body: {
        metadata: { resourceVersion: metadata.resourceVersion },
        spec: { holderIdentity: '', leaseDurationSeconds: 1 },
      },
    });
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

/** What a new cluster is given once: anyone who deletes it does not find it again after a restart. */
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
