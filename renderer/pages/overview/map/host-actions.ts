import type { ClusterAction, HostState } from '../../../../core/contract/index.ts';
import { t } from '../../../locales/i18n.ts';
import type { ComponentRow } from './component-rows.ts';

/** What a menu offers; with `why` it is shown and cannot be chosen. */
export interface Offer {
  readonly action: ClusterAction;
  readonly why: string | undefined;
}

const DOWN: readonly HostState['phase'][] = ['stopped', 'killed', 'failed'];

const startWhy = (phase: HostState['phase']): string | undefined =>
  DOWN.includes(phase) ? undefined : t('map.why.runs');
const runningWhy = (phase: HostState['phase']): string | undefined => {
  if (phase === 'running') return undefined;
  return t(
    phase === 'paused' ? 'map.why.paused' : DOWN.includes(phase) ? 'map.why.down' : 'map.why.changing',
  );
};

/** Every act on a host, in the same order whatever its state, so that hands learn where they are. */
export const hostOffers = (
  { name: host, phase }: Pick<HostState, 'name' | 'phase'>,
  never: string | undefined,
): readonly Offer[] => [
  { action: { kind: 'host.start', host }, why: never ?? startWhy(phase) },
  { action: { kind: 'host.restart', host }, why: never ?? runningWhy(phase) },
  phase === 'paused'
    ? { action: { kind: 'host.resume', host }, why: never }
    : { action: { kind: 'host.pause', host }, why: never ?? runningWhy(phase) },
  { action: { kind: 'host.stop', host }, why: never ?? runningWhy(phase) },
  {
    action: { kind: 'host.kill', host },
    why: never ?? (DOWN.includes(phase) ? t('map.why.down') : undefined),
  },
];

/** Only what runs can be broken further. */
export const breakableOf = (
  { phase }: Pick<HostState, 'phase'>,
  never: string | undefined,
): { readonly why: string | undefined } => ({ why: never ?? runningWhy(phase) });

export const componentOffers = (
  host: Pick<HostState, 'name' | 'phase'>,
  { name: component, phase }: Pick<ComponentRow, 'name' | 'phase'>,
  never: string | undefined,
): readonly Offer[] => {
  const target = { host: host.name, component };
  const away = never ?? runningWhy(host.phase);
  const isAside = phase === 'aside';
  const gone = away ?? (isAside ? t('map.why.down') : undefined);
  return [
    {
      action: { kind: 'component.start', ...target },
      why: away ?? (isAside ? undefined : t('map.why.runs')),
    },
    { action: { kind: 'component.stop', ...target }, why: gone },
    { action: { kind: 'component.kill', ...target }, why: gone },
  ];
};
