import { say, SaidError } from '../../contract/index.ts';
import { CONTROL_PLANES_MAX, type ClusterConfig } from '../config/config.ts';
import {
  controlPlaneName,
  controlPlaneOrdinals,
  etcdName,
  etcdOrdinals,
  planHosts,
  type HostPlan,
} from '../config/hosts.ts';

const isContiguous = (list: readonly number[]): boolean =>
  list.every((ordinal, index) => ordinal === index + 1);

/** The same cluster with other hosts. What needs no list has none. */
const withOrdinals = (config: ClusterConfig, list: readonly number[]): ClusterConfig => {
  const { controlPlaneOrdinals: _, etcdOrdinals: __, ...spec } = config.spec;
  if (config.spec.topology === 'stacked')
    return {
      ...config,
      spec: {
        ...spec,
        controlPlanes: list.length,
        etcdMembers: list.length,
        ...(!isContiguous(list) && { controlPlaneOrdinals: [...list] }),
      },
    };
  return {
    ...config,
    spec: {
      ...spec,
      etcdMembers: list.length,
      ...(config.spec.controlPlaneOrdinals && { controlPlaneOrdinals: config.spec.controlPlaneOrdinals }),
      ...(!isContiguous(list) && { etcdOrdinals: [...list] }),
    },
  };
};

const memberOrdinals = (config: ClusterConfig): readonly number[] =>
  config.spec.topology === 'stacked' ? controlPlaneOrdinals(config) : etcdOrdinals(config);

const hostName = ({ spec }: ClusterConfig, ordinal: number): string =>
  spec.topology === 'stacked' ? controlPlaneName(ordinal) : etcdName(ordinal);

export const hostOf = (config: ClusterConfig, name: string): HostPlan | undefined =>
  planHosts(config).find((host) => host.name === name);

/** The cluster with one more member, on the host with the smallest number that is free. */
export const withNextMember = (
  config: ClusterConfig,
): { readonly config: ClusterConfig; readonly host: HostPlan } => {
  const taken = memberOrdinals(config);
  const next = Array.from({ length: CONTROL_PLANES_MAX }, (_, index) => index + 1).find(
    (ordinal) => !taken.includes(ordinal),
  );
  if (next === undefined)
    throw new SaidError('TooMany', say('failure.member.tooMany', { count: taken.length }));
  const grown = withOrdinals(
    config,
    [...taken, next].sort((a, b) => a - b),
  );
  return { config: grown, host: hostOf(grown, hostName(config, next))! };
};

/** The cluster without the member of this host. */
export const withoutMember = (config: ClusterConfig, host: string): ClusterConfig =>
  withOrdinals(
    config,
    memberOrdinals(config).filter((ordinal) => hostName(config, ordinal) !== host),
  );
