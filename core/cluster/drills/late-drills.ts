import type { Supervisor } from '../supervisor/supervisor.ts';
import type { Drills } from './drills.ts';

/** The drills of one cluster, loaded with the first request: most clusters never see one. */
export const lateDrills = (supervisor: Supervisor): (() => Promise<Drills>) => {
  let loading: Promise<Drills> | undefined;
  return () => (loading ??= import('./drills.ts').then((loaded) => new loaded.Drills(supervisor)));
};
