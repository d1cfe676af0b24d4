import type { Applier } from './applier.ts';
import { corruptGuard, noSpaceGuard, quotaGuard } from './guards.ts';
import type { Quota } from './quota.ts';
import { storeApplier, type ApplyState } from './store-applier.ts';

export { Alarms } from './alarms.ts';
export type { Applier } from './applier.ts';
export { mayPut } from './guards.ts';
export { backendQuota, type Quota } from './quota.ts';
export { toRange, toTxn } from './requests.ts';
export { fromRange, fromTxn } from './responses.ts';
export type { ApplyState } from './store-applier.ts';

/** Each link may refuse what the links behind it would do. */
export const applierChain = (state: ApplyState, quota: Quota): Applier =>
  corruptGuard(noSpaceGuard(quotaGuard(storeApplier(state), quota), state.alarms), state.alarms);
