import { isNotFound } from '../../api/meta/index.ts';
import type { V1NodeAddress } from '../../api/schema/index.ts';
import { NODE, updateOnConflict, type Node, type Stored } from '../../client/index.ts';
import type { ControllerDefinition } from '../../controllers/runtime/controller.ts';
import { repeat, workLoop } from '../../controllers/runtime/work-loop.ts';
import type { CloudSettings } from '../config/config.ts';
import type { InstanceMetadata } from '../provider/provider.ts';
import { providerFor } from '../run/provider-for.ts';

export const UNINITIALIZED_TAINT = 'node.cloudprovider.kubernetes.io/uninitialized';

/** Each label also under the name it had before it was stable; old selectors still ask for that. */
const labelsFrom = ({ instanceType, zone, region, additionalLabels }: InstanceMetadata) => ({
  'beta.kubernetes.io/instance-type': instanceType,
  'node.kubernetes.io/instance-type': instanceType,
  'failure-domain.beta.kubernetes.io/zone': zone,
  'topology.kubernetes.io/zone': zone,
  'failure-domain.beta.kubernetes.io/region': region,
  'topology.kubernetes.io/region': region,
  ...additionalLabels,
});

const OLD_LABELS = [
  ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'],
  ['failure-domain.beta.kubernetes.io/region', 'topology.kubernetes.io/region'],
  ['beta.kubernetes.io/instance-type', 'node.kubernetes.io/instance-type'],
] as const;

/** Upstream takes the older label for the truth where the two differ. */
export const labelsToReconcile = (labels: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(
    OLD_LABELS.flatMap(([old, stable]) => {
      const value = labels[old];
      return value === undefined || value === labels[stable] ? [] : [[stable, value]];
    }),
  );

export const isUninitialized = ({ spec }: Node): boolean =>
  (spec?.taints ?? []).some(({ key }) => key === UNINITIALIZED_TAINT);

/** The node as the cloud knows it, and ready for pods. */
export const initialized = (node: Stored<Node>, metadata: InstanceMetadata): Node => ({
  ...node,
  metadata: { ...node.metadata, labels: { ...node.metadata.labels, ...labelsFrom(metadata) } },
  spec: {
    ...node.spec,
    providerID: node.spec?.providerID || metadata.providerID,
    taints: (node.spec?.taints ?? []).filter(({ key }) => key !== UNINITIALIZED_TAINT),
  },
});

const addressText = (addresses: readonly V1NodeAddress[] | undefined): string =>
  (addresses ?? []).map(({ type, address }) => `${type}=${address}`).join();

/** The addresses to write; undefined when the node has them. A host name that the kubelet found out is kept. */
export const addressesToWrite = (
  node: Stored<Node>,
  { nodeAddresses }: InstanceMetadata,
): readonly V1NodeAddress[] | undefined => {
  if (nodeAddresses.length === 0) return undefined;
  const held = node.status?.addresses ?? [];
  const hostname = held.filter(({ type }) => type === 'Hostname');
  const isNamed = nodeAddresses.some(({ type }) => type === 'Hostname');
  const next = isNamed ? nodeAddresses : [...nodeAddresses, ...hostname];
  return addressText(next) === addressText(held) ? undefined : next;
};

/** Fills in what only the cloud knows about a new node, and lets pods come. */
export const cloudNodeController: ControllerDefinition<CloudSettings> = {
  name: 'cloud-node-controller',
  aliases: ['cloud-node'],
  serviceAccount: 'node-controller',
  isOnByDefault: true,
  create(context, settings) {
    const { client, informers, events, clock } = context;
    const { instances } = providerFor(context, settings);
    if (!instances) return undefined;
    const nodes = informers.informer(NODE);
    const resource = client.resource(NODE);

    const writeAddresses = async (node: Stored<Node>, metadata: InstanceMetadata): Promise<void> => {
      const addresses = addressesToWrite(node, metadata);
      if (!addresses) return;
      // The list is replaced: addresses are merged by type, and a cloud may have two of one type.
      const body = { status: { addresses: [{ $patch: 'replace' }, ...addresses] } };
      await resource.patchStatus(node.metadata.name, { type: 'strategic', body });
    };

    const sync = async (name: string, signal: AbortSignal): Promise<void> => {
      const node = nodes.store.get(name);
      if (!node) return;
      if (!isUninitialized(node)) {
        const labels = labelsToReconcile(node.metadata.labels);
        if (Object.keys(labels).length > 0)
          await resource.patch(name, { type: 'strategic', body: { metadata: { labels } } });
        return;
      }
      const metadata = await instances.metadataOf(node);
      try {
        const written = await updateOnConflict(resource, name, {
          clock,
          signal,
          change: (read) => (isUninitialized(read) ? initialized(read, metadata) : undefined),
        });
        await writeAddresses(written, metadata);
        events.event(written, 'Normal', 'Synced', 'Node synced successfully');
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    };

    const refreshAddresses = async (): Promise<void> => {
      for (const node of nodes.store.list())
        if (!isUninitialized(node)) await writeAddresses(node, await instances.metadataOf(node));
    };

    const loop = workLoop(context, {
      name: 'Nodes',
      workers: settings['concurrent-node-syncs'],
      handle: sync,
      beside: (signal) => repeat(context, settings['node-status-update-frequency'], signal, refreshAddresses),
    });
    nodes.addHandler({
      added: ({ metadata }) => loop.queue.add(metadata.name),
      updated: (_before, { metadata }) => loop.queue.add(metadata.name),
    });
    return loop;
  },
};
