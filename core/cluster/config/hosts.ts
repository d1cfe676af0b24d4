import { controlPlaneAddress, etcdAddress, workerAddress } from './addresses.ts';
import { CONTROL_PLANES_MAX, type ClusterConfig } from './config.ts';

export type HostRole = 'control-plane' | 'etcd' | 'workers';

/** One machine of the cluster: one OS process. All workers share one, since a node of theirs costs a few kB. */
export interface HostPlan {
  readonly name: string;
  readonly role: HostRole;
  /** The nodes it registers; an etcd host of the external topology has none. */
  readonly nodes: readonly NodePlan[];
  /** Where its etcd member listens, if it runs one. */
  readonly etcd: { readonly name: string; readonly address: string } | undefined;
  readonly address: string;
}

export interface NodePlan {
  readonly name: string;
  readonly address: string;
}

export const WORKERS_HOST = 'workers';

const ordinals = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

export const controlPlaneName = (ordinal: number): string => `cp-${ordinal}`;
export const etcdName = (ordinal: number): string => `etcd-${ordinal}`;
export const workerName = (ordinal: number): string => `worker-${ordinal}`;

/** Which control planes there are, by number: a gap is where one was removed. */
export const controlPlaneOrdinals = ({ spec }: ClusterConfig): readonly number[] =>
  spec.controlPlaneOrdinals ?? ordinals(spec.controlPlanes);

export const etcdOrdinals = ({ spec }: ClusterConfig): readonly number[] =>
  spec.etcdOrdinals ?? ordinals(spec.etcdMembers);

/** Pod ranges follow from the place of a node among these: control planes that come later have theirs from the start. */
export const nodePlaces = ({ spec }: ClusterConfig): number => CONTROL_PLANES_MAX + spec.workers;

export const firstNodePlace = ({ name, role }: HostPlan): number =>
  role === 'workers' ? CONTROL_PLANES_MAX : Number(/\d+$/.exec(name)?.[0] ?? 1) - 1;

/** Also of control planes that come later. */
export const possibleNodeNames = ({ spec }: ClusterConfig): readonly string[] => [
  ...ordinals(CONTROL_PLANES_MAX).map(controlPlaneName),
  ...ordinals(spec.workers).map(workerName),
];

/** Every host of a cluster, members of etcd first. */
export const planHosts = (config: ClusterConfig): readonly HostPlan[] => {
  const { spec } = config;
  const plan = { network: spec.network };
  const isStacked = spec.topology === 'stacked';
  const etcdHosts: HostPlan[] =
    isStacked || spec.externalEtcd
      ? []
      : etcdOrdinals(config).map((ordinal) => {
          const [name, address] = [etcdName(ordinal), etcdAddress(plan, ordinal)];
          return { name, role: 'etcd', nodes: [], etcd: { name, address }, address };
        });
  const controlPlanes: HostPlan[] = controlPlaneOrdinals(config).map((ordinal) => {
    const [name, address] = [controlPlaneName(ordinal), controlPlaneAddress(plan, ordinal)];
    return {
      name,
      role: 'control-plane',
      nodes: [{ name, address }],
      etcd: isStacked ? { name, address } : undefined,
      address,
    };
  });
  const workers: HostPlan[] =
    spec.workers === 0
      ? []
      : [
          {
            name: WORKERS_HOST,
            role: 'workers',
            nodes: ordinals(spec.workers).map((ordinal) => ({
              name: workerName(ordinal),
              address: workerAddress(plan, ordinal),
            })),
            etcd: undefined,
            address: workerAddress(plan, 1),
          },
        ];
  return [...etcdHosts, ...controlPlanes, ...workers];
};
