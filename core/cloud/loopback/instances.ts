import { ReasonError } from '../../base/errors.ts';
import type { V1NodeAddress } from '../../api/schema/index.ts';
import { fnv32a, type Node, type Stored } from '../../client/index.ts';
import type { Instances } from '../provider/provider.ts';
import { readInstances, type InstanceRecord } from './instance-file.ts';

export const PROVIDER_NAME = 'loopback';
export const REGION = 'loopback';
export const ZONES = ['zone-a', 'zone-b', 'zone-c'] as const;
const TYPE_DEFAULT = 'loopback.standard';
const PROVIDED_IP_ANNOTATION = 'alpha.kubernetes.io/provided-node-ip';

/** Hosts of one name and rising numbers go over the zones in turn; other names are spread by their hash. */
export const zoneOf = (name: string): string => {
  const ordinal = /(\d+)$/.exec(name)?.[1];
  const index = ordinal === undefined ? fnv32a(name) : Number(ordinal) - 1 + ZONES.length;
  return ZONES[index % ZONES.length]!;
};

const addressesOf = (node: Stored<Node>, record: InstanceRecord): readonly V1NodeAddress[] => {
  const known = node.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
  const internal = node.metadata.annotations?.[PROVIDED_IP_ANNOTATION] ?? known;
  return [
    ...(internal === undefined ? [] : [{ type: 'InternalIP', address: internal }]),
    ...(record.externalIP === undefined ? [] : [{ type: 'ExternalIP', address: record.externalIP }]),
    { type: 'Hostname', address: node.metadata.name },
  ];
};

/** The hosts of the cluster as instances of a cloud. Each exists until `instances.json` says otherwise. */
export const loopbackInstances = (folder: string): Instances => {
  const recordOf = async (node: Stored<Node>): Promise<InstanceRecord> =>
    (await readInstances(folder)).get(node.metadata.name) ?? {};
  return {
    async exists(node) {
      return (await recordOf(node)).state !== 'deleted';
    },
    async isShutDown(node) {
      return (await recordOf(node)).state === 'stopped';
    },
    async metadataOf(node) {
      const { name } = node.metadata;
      const record = await recordOf(node);
      if (record.state === 'deleted')
        throw new ReasonError('InstanceNotFound', `instance not found: ${name} was deleted from the cloud`);
      const zone = record.zone ?? zoneOf(name);
      return {
        providerID: `${PROVIDER_NAME}:///${zone}/${name}`,
        instanceType: record.type ?? TYPE_DEFAULT,
        nodeAddresses: addressesOf(node, record),
        zone,
        region: REGION,
        additionalLabels: {},
      };
    },
  };
};
