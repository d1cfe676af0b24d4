import { say } from '../../../contract/index.ts';
import type { Observation } from '../draft.ts';

export interface LeaseHolder {
  readonly namespace: string;
  readonly name: string;
  /** Empty while no one holds it. */
  readonly holder: string;
}

/** Components hold leases as `<host>_<uuid>`. */
const hostOf = (holder: string): string => holder.split('_')[0] ?? holder;

export const leaseChanges = (
  before: LeaseHolder | undefined,
  { namespace, name, holder }: LeaseHolder,
): readonly Observation[] => {
  const was = before?.holder ?? '';
  if (was === holder) return [];
  const about = [`${namespace}/${name}`, hostOf(was), hostOf(holder)].filter((one) => one !== '');
  const lane = { lane: 'leases', kind: 'leaseMoved', about, source: '/leases' } as const;
  if (was === '')
    return [
      {
        ...lane,
        severity: 'info',
        text: say('timeline.leaseMoved.first', { lease: name, holder: hostOf(holder) }),
      },
    ];
  if (holder === '')
    return [
      {
        ...lane,
        severity: 'warn',
        text: say('timeline.leaseMoved.released', { lease: name, before: hostOf(was) }),
      },
    ];
  return [
    {
      ...lane,
      severity: 'warn',
      text: say('timeline.leaseMoved', { lease: name, before: hostOf(was), holder: hostOf(holder) }),
    },
  ];
};
