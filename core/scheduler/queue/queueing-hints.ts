import {
  ACTION_ALL,
  eventMatches,
  type ClusterEvent,
  type ClusterEventWithHint,
} from '../framework/cluster-event.ts';
import type { Plugin } from '../framework/plugin.ts';
import type { Pod } from '../model/objects.ts';
import type { InFlightEvent } from './in-flight-events.ts';
import type { QueuedPodInfo } from './queued-pod.ts';

export type Strategy = 'skip' | 'after-backoff' | 'immediately';

interface Registered extends ClusterEventWithHint {
  readonly plugin: string;
}

const isWildcard = ({ resource, action }: ClusterEvent): boolean => resource === '*' && action === ACTION_ALL;

/** Which events the plugins of each profile care about. */
export class QueueingHints {
  readonly #byProfile: ReadonlyMap<string, readonly Registered[]>;

  constructor(profiles: Iterable<{ readonly profileName: string; all(): readonly Plugin[] }>) {
    this.#byProfile = new Map(
      [...profiles].map((profile) => [
        profile.profileName,
        profile
          .all()
          .flatMap((plugin) =>
            (plugin.eventsToRegister?.() ?? [{ resource: '*' as const, action: ACTION_ALL }]).map(
              (registered): Registered => ({ ...registered, plugin: plugin.name }),
            ),
          ),
      ]),
    );
  }

  isOfInterest(event: ClusterEvent): boolean {
    if (isWildcard(event)) return true;
    for (const registered of this.#byProfile.values())
      if (registered.some((one) => eventMatches(one, event))) return true;
    return false;
  }

  /** Whether the event may have made the pod schedulable. A hint that fails counts as a yes. */
  strategyFor(queued: QueuedPodInfo, { event, before, after }: InFlightEvent): Strategy {
    const { unschedulablePlugins, pendingPlugins } = queued;
    if (unschedulablePlugins.size + pendingPlugins.size === 0) return 'after-backoff';
    if (isWildcard(event)) {
      const about = after as Pod | undefined;
      return about && about.metadata.uid !== queued.uid ? 'skip' : 'after-backoff';
    }
    const { pod } = queued.info;
    const registered = this.#byProfile.get(pod.spec.schedulerName ?? '');
    if (!registered) return 'after-backoff';
    let strategy: Strategy = 'skip';
    for (const one of registered) {
      if (!eventMatches(one, event)) continue;
      if (!unschedulablePlugins.has(one.plugin) && !pendingPlugins.has(one.plugin)) continue;
      if (this.#hint(one, pod, before, after) === 'QueueSkip') continue;
      if (pendingPlugins.has(one.plugin)) return 'immediately';
      if (pendingPlugins.size === 0) return 'after-backoff';
      strategy = 'after-backoff';
    }
    return strategy;
  }

  #hint(registered: Registered, pod: Pod, before: unknown, after: unknown): 'Queue' | 'QueueSkip' {
    try {
      return registered.hint?.(pod, before, after) ?? 'Queue';
    } catch {
      // An object that a hint cannot read must not strand the pod: another try costs little.
      return 'Queue';
    }
  }
}
