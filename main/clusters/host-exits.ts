import type { ClusterState, HostState } from '../../core/cluster/state/cluster-state.ts';
import type { Said } from '../../core/contract/index.ts';

/** A host that went down while its cluster runs. */
export interface HostExitNotice {
  readonly host: string;
  /** `killed`: someone asked for it, here or on a command line. `exited`: no one did. */
  readonly cause: 'exited' | 'killed';
  /** Why it exited and what the supervisor does about it; null for one that was killed. */
  readonly message: Said | null;
  readonly isGivenUp: boolean;
  readonly runningHosts: number;
  readonly totalHosts: number;
}

interface Seen {
  readonly exitAtMs: number;
  readonly isKilled: boolean;
}

const seenOf = ({ phase, lastExit, isEndWanted }: HostState): Seen => ({
  exitAtMs: lastExit?.atMs ?? 0,
  isKilled: phase === 'killed' && isEndWanted,
});

/** Finds the hosts that went down between two states of a cluster. The first state only sets the baseline. */
export class HostExits {
  #seen: ReadonlyMap<string, Seen> | undefined;

  look({ hosts }: Pick<ClusterState, 'hosts'>): readonly HostExitNotice[] {
    const before = this.#seen;
    this.#seen = new Map(hosts.map((host) => [host.name, seenOf(host)]));
    if (!before) return [];
    const count = {
      runningHosts: hosts.filter(({ phase }) => phase === 'running').length,
      totalHosts: hosts.length,
    };
    return hosts.flatMap((host): HostExitNotice[] => {
      const { name, message, lastExit } = host;
      const was = before.get(name);
      const now = seenOf(host);
      if (now.exitAtMs > (was?.exitAtMs ?? 0))
        return [
          {
            ...count,
            host: name,
            cause: 'exited',
            message: message ?? lastExit?.reason ?? null,
            isGivenUp: lastExit?.isGivenUp === true,
          },
        ];
      if (now.isKilled && was?.isKilled === false)
        return [{ ...count, host: name, cause: 'killed', message: null, isGivenUp: false }];
      return [];
    });
  }

  /** The cluster stopped: its next start has its own exits. */
  forget(): void {
    this.#seen = undefined;
  }
}
