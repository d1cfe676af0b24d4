import type { Disposable } from '../../core/base/disposable.ts';
import type { ClusterConfig } from '../../core/cluster/config/config.ts';
import type { Supervisor } from '../../core/cluster/supervisor/supervisor.ts';
import type { LocalClusterState } from '../../core/contract/index.ts';

/** One cluster of this console's own, running or not. */
export interface LocalCluster {
  /** Its data folder, which is its id too. */
  readonly directory: string;
  /** As of now: an upgrade or a new member changes it. */
  readonly config: ClusterConfig;
  /** Undefined while it does not run. */
  readonly supervisor: Supervisor | undefined;
  /** Another process of this user runs it, and does what it is asked to. */
  readonly isElsewhere: boolean;
  state(): LocalClusterState;
  /** After every change of the state. */
  onChange(listener: (state: LocalClusterState) => void): Disposable;
}

/** What the rest of the host asks about clusters of its own. */
export interface LocalClusters {
  /** Undefined for an id of a kubeconfig's. */
  find(id: string): LocalCluster | undefined;
  list(): readonly LocalCluster[];
  /** A cluster was added or removed, or one of them changed its phase. */
  onChange(listener: () => void): Disposable;
}
