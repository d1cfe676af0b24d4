import type { Pod, PodCondition } from '../model/objects.ts';
import type { PersistentVolume, PersistentVolumeClaim } from '../model/volumes.ts';

export interface PodStatusChange {
  readonly condition?: PodCondition;
  /** An empty name clears the nomination. */
  readonly nominatedNodeName?: string;
}

/**
 * The writes that scheduling makes, each one request. They fail with the error of the client; a conflict on
 * `bind` says that somebody bound or changed the pod in between.
 */
export interface SchedulerApi {
  bind(pod: Pod, nodeName: string): Promise<void>;
  patchPodStatus(pod: Pod, change: PodStatusChange): Promise<void>;
  deletePod(pod: Pod): Promise<void>;
  updateVolume(volume: PersistentVolume): Promise<PersistentVolume>;
  updateClaim(claim: PersistentVolumeClaim): Promise<PersistentVolumeClaim>;
  event(event: {
    readonly pod: Pod;
    readonly related?: Pod;
    readonly type: 'Normal' | 'Warning';
    readonly reason: string;
    readonly action: string;
    readonly note: string;
  }): void;
}
