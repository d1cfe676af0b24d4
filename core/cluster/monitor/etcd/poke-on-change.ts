import type { Disposable } from '../../../base/disposable.ts';
import type { ClusterState } from '../../state/cluster-state.ts';
import type { MembersWatch } from './members-watch.ts';

/** Changes when a host or a member came or went. */
const quorumStamp = ({ hosts }: ClusterState): string =>
  hosts
    .map(({ name, phase, components }) => {
      const etcd = components.find((component) => component.name === 'etcd');
      return `${name} ${phase} ${etcd?.phase ?? ''} ${etcd?.restarts ?? 0}`;
    })
    .join('\n');

export interface ChangingCluster {
  state(): ClusterState;
  onChange(listener: (state: ClusterState) => void): Disposable;
}

/** Lets a watch of members look immediately when a host or a member came or went. */
export const pokeOnChange = (cluster: ChangingCluster, members: Pick<MembersWatch, 'poke'>): Disposable => {
  let stamp = quorumStamp(cluster.state());
  return cluster.onChange((state) => {
    const now = quorumStamp(state);
    if (now === stamp) return;
    stamp = now;
    members.poke();
  });
};
