import type { ClusterState, HostState } from '../../core/cluster/index.ts';

/** A host that exited without being asked to, as a notice tells it. */
export interface HostExitNotice {
  readonly host: string;
  readonly message: string;
  readonly isGivenUp: boolean;
}

const noticeOf = ({ name, message, lastExit }: HostState): HostExitNotice => ({
  host: name,
  message: message ?? lastExit?.reason ?? '',
  isGivenUp: lastExit?.isGivenUp === true,
});

/** Finds the exits between one state of a cluster and the next. What there was at the first look is no news. */
export class HostExits {
  #seen: ReadonlyMap<string, number> | undefined;

  look({ hosts }: Pick<ClusterState, 'hosts'>): readonly HostExitNotice[] {
    const before = this.#seen;
    this.#seen = new Map(hosts.map(({ name, lastExit }) => [name, lastExit?.atMs ?? 0]));
    if (!before) return [];
    return hosts
      .filter(({ name, lastExit }) => (lastExit?.atMs ?? 0) > (before.get(name) ?? 0))
      .map(noticeOf);
  }

  /** The cluster does not run any more: its next start has its own exits. */
  forget(): void {
    this.#seen = undefined;
  }
}
