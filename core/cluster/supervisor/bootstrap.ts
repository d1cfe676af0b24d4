import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlreadyExists } from '../../api/meta/status.ts';
import { messageOf } from '../../base/errors.ts';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import {
  CLUSTER_ROLE,
  CLUSTER_ROLE_BINDING,
  LEASE,
  NODE,
  SERVICE,
  STORAGE_CLASS,
  type Client,
} from '../../client/index.ts';
import {
  CLOUD_CONTROLLER_MANAGER_BINDING,
  CLOUD_CONTROLLER_MANAGER_ROLE,
} from '../../cloud/config/access.ts';
import { CONTROL_PLANE_LABEL, EXCLUDED_FROM_LOAD_BALANCERS_LABEL } from '../config/labels.ts';
import { dnsServiceAddress } from '../config/addresses.ts';
import type { ClusterConfig } from '../config/config.ts';
import { certificatePath } from '../../pki/index.ts';
import { addonsFile, manifestsFolder } from '../data-folder/layout.ts';
import type { DataFolder } from '../data-folder/open.ts';
import { DNS_LABELS, dnsHosts, kubeDnsPod, PORTS } from '../manifests/control-plane.ts';
import { advertisedEndpoint } from '../config/endpoints.ts';
import { writeKubernetesEndpoints } from './kubernetes-endpoints.ts';
import { installRoles } from '../bootstrap-tokens/join-roles.ts';
import { writeJoinConfigMaps } from '../bootstrap-tokens/join-settings.ts';
import { staticPodYaml } from '../manifests/static-pod.ts';

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

const DNS_SERVICE_PORTS = [
  { name: 'dns', port: 53, protocol: 'UDP', targetPort: 'dns' },
  { name: 'dns-tcp', port: 53, protocol: 'TCP', targetPort: 'dns-tcp' },
  { name: 'metrics', port: PORTS.dnsMetrics, protocol: 'TCP', targetPort: 'metrics' },
];

/** As kubeadm names it, so that a CoreDNS that is put in its place is found by everything that looks for it. */
const dnsService = (config: ClusterConfig) => {
  const clusterIP = dnsServiceAddress(config.spec);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: 'kube-dns',
      namespace: 'kube-system',
      labels: {
        ...DNS_LABELS,
        'kubernetes.io/cluster-service': 'true',
        'kubernetes.io/name': 'CoreDNS',
      },
      annotations: { 'prometheus.io/port': String(PORTS.dnsMetrics), 'prometheus.io/scrape': 'true' },
    },
    spec: { clusterIP, clusterIPs: [clusterIP], selector: { ...DNS_LABELS }, ports: DNS_SERVICE_PORTS },
  };
};

/** Manifests of a cluster that is older than its DNS. New ones have them from the start. */
const writeDnsManifests = async (directory: string, config: ClusterConfig): Promise<void> => {
  for (const host of dnsHosts(config)) {
    const file = join(manifestsFolder(directory, host.name), 'kube-dns.yaml');
    const pod = kubeDnsPod({ host, version: config.spec.kubernetesVersion });
    if (!existsSync(file)) await writeFileAtomically(file, staticPodYaml(pod));
  }
};

const unlessThere = async (create: Promise<unknown>): Promise<void> => {
  try {
    await create;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
};

interface Addon {
  readonly name: string;
  install(client: Client, folder: DataFolder): Promise<void>;
}

const ADDONS: readonly Addon[] = [
  { name: 'roles/join', install: (client) => installRoles(client) },
  {
    name: 'storageclass/local',
    install: (client) => unlessThere(client.resource(STORAGE_CLASS).create(LOCAL_STORAGE)),
  },
  {
    name: 'service/kube-dns',
    install: async (client, { directory, config }) => {
      const services = client.resource(SERVICE, 'kube-system');
      // Asked first: the address of one that is there is taken, which a second one would be told before its name.
      const found = await services.list({ fieldSelector: 'metadata.name=kube-dns' });
      if (found.items.length === 0) await unlessThere(services.create(dnsService(config)));
      await writeDnsManifests(directory, config);
    },
  },
];

const readInstalled = async (file: string): Promise<readonly string[]> => {
  if (!existsSync(file)) return [];
  const { installed } = JSON.parse(await readFile(file, 'utf8')) as { installed?: unknown };
  return Array.isArray(installed) ? installed.map(String) : [];
};

/**
 * What a cluster is given once: anyone who deletes it does not find it again after a restart. Answers what could not be
 * installed, and is tried again at the next start.
 */
export const installAddons = async (client: Client, folder: DataFolder): Promise<readonly string[]> => {
  const told = await writeJoinSettings(client, folder);
  return [...told, ...(await installMissing(client, folder))];
};

/** At every start: an address that has changed must not be given to machines that join. */
const writeJoinSettings = async (
  client: Client,
  { directory, config }: DataFolder,
): Promise<readonly string[]> => {
  try {
    await writeJoinConfigMaps(client, config, await readFile(certificatePath(directory, 'ca'), 'utf8'));
    if (config.spec.advertiseAddress !== undefined)
      await writeKubernetesEndpoints(client, advertisedEndpoint(config));
    return [];
  } catch (error) {
    return [
      `cannot write the settings of joining machines: ${messageOf(error)}; restart the cluster to retry`,
    ];
  }
};

const installMissing = async (client: Client, folder: DataFolder): Promise<readonly string[]> => {
  const file = addonsFile(folder.directory);
  const installed = await readInstalled(file);
  const missing = ADDONS.filter(({ name }) => !installed.includes(name));
  if (missing.length === 0) return [];
  const outcomes = await Promise.allSettled(missing.map((addon) => addon.install(client, folder)));
  const done = missing.filter((_, index) => outcomes[index]!.status === 'fulfilled');
  const names = [...installed, ...done.map(({ name }) => name)];
  await writeFileAtomically(file, `${JSON.stringify({ installed: names })}\n`);
  return outcomes.flatMap((outcome, index) =>
    outcome.status === 'rejected'
      ? [`cannot install ${missing[index]!.name}: ${messageOf(outcome.reason)}; restart the cluster to retry`]
      : [],
  );
};
