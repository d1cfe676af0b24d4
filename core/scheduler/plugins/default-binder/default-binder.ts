import type { Plugin } from '../../framework/plugin.ts';
import type { SchedulerApi } from '../../framework/scheduler-api.ts';
import { DEFAULT_BINDER } from '../../framework/plugin-names.ts';

/** Binds through `pods/binding`; the API server refuses a pod that is already bound. */
export const defaultBinder = (api: SchedulerApi): Plugin => ({
  name: DEFAULT_BINDER,
  async bind(_cycle, { pod }, nodeName) {
    await api.bind(pod, nodeName);
    return undefined;
  },
});
