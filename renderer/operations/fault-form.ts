import { LOAD_BALANCER_END, type ClusterAction, type HostState } from '../../core/contract/index.ts';

export type FaultKind = 'cut' | 'delay' | 'slow-disk' | 'clock';

/** Everything but the host itself. */
export const ALL_ENDS = '*';

/** What a person chose to break; amounts are texts because they are options of a form. */
export interface FaultForm {
  readonly kind: FaultKind;
  readonly to: string;
  readonly isOneWay: boolean;
  readonly delayMs: string;
  readonly syncDelayMs: string;
  readonly offsetMs: string;
}

export const DELAYS_MS = [20, 100, 500, 2_000] as const;
export const SYNC_DELAYS_MS = [20, 100, 500, 2_000] as const;
/** Within a lease, beyond a lease, beyond a certificate that was just issued. */
export const OFFSETS_MS = [-3_600_000, -30_000, 30_000, 3_600_000] as const;

export const firstForm = (): FaultForm => ({
  kind: 'cut',
  to: ALL_ENDS,
  isOneWay: false,
  delayMs: '100',
  syncDelayMs: '100',
  offsetMs: '30000',
});

/** Workers have neither a member whose disk could be slow nor much that a clock could lead astray. */
export const kindsFor = ({ components }: Pick<HostState, 'components'>): readonly FaultKind[] =>
  components.some(({ name }) => name === 'etcd')
    ? ['cut', 'delay', 'slow-disk', 'clock']
    : ['cut', 'delay', 'clock'];

/** The other ends of a link of this host. */
export const endsFor = (host: string, hosts: readonly Pick<HostState, 'name'>[]): readonly string[] => [
  ...hosts.map(({ name }) => name).filter((name) => name !== host),
  LOAD_BALANCER_END,
];

export const faultAction = (host: string, form: FaultForm): ClusterAction => {
  const link = { from: host, to: form.to, isOneWay: form.isOneWay };
  switch (form.kind) {
    case 'cut':
      if (form.to === ALL_ENDS) return { kind: 'fault.isolate', host };
      return { kind: 'fault.add', fault: { kind: 'cut', ...link } };
    case 'delay':
      return { kind: 'fault.add', fault: { kind: 'delay', ...link, delayMs: Number(form.delayMs) } };
    case 'slow-disk':
      return { kind: 'fault.add', fault: { kind: 'slow-disk', host, delayMs: Number(form.syncDelayMs) } };
    case 'clock':
      return { kind: 'fault.add', fault: { kind: 'clock', host, offsetMs: Number(form.offsetMs) } };
  }
};
