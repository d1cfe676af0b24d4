import type { HostState, LocalClusterState } from '../../../../core/contract/index.ts';
import { tell } from '../../../locales/i18n.ts';
import type { StatusTone } from '../../../kinds/status-tone.ts';
import { componentRows, expectedComponents, hostTone, type ComponentRow } from './component-rows.ts';

/** A card of the map: one machine of the control plane, ours or not. */
export interface HostView {
  readonly name: string;
  readonly address: string;
  readonly role: HostState['role'];
  /** Undefined where no one of ours supervises it; then `status` is its node's. */
  readonly phase: HostState['phase'] | undefined;
  readonly status: string;
  readonly tone: StatusTone;
  readonly message: string | undefined;
  readonly connections: { readonly count: number; readonly isHealthy: boolean } | undefined;
  readonly rssBytes: number | undefined;
  readonly rows: readonly ComponentRow[];
}

export const localHosts = (state: LocalClusterState, role: 'control-plane' | 'etcd'): readonly HostView[] => {
  const expected = expectedComponents(state, role);
  return state.hosts
    .filter((host) => host.role === role)
    .map((host) => {
      const backend = state.loadBalancer?.backends.find(
        ({ name, address }) => name === host.name || address.startsWith(`${host.address}:`),
      );
      return {
        name: host.name,
        address: host.address,
        role: host.role,
        phase: host.phase,
        status: '',
        tone: hostTone(host),
        message: host.message ? tell(host.message) : undefined,
        connections: backend && { count: backend.connections, isHealthy: backend.isHealthy },
        rssBytes:
          host.phase === 'running' || host.phase === 'paused' ? (host.rssBytes ?? undefined) : undefined,
        rows: componentRows(host, expected),
      };
    });
};
