import type { Handlers } from '../../core/contract/index.ts';
import type { MonitorDependencies } from './handlers.ts';
import { running, type LocalRecords } from './local-records.ts';

/** What controllers of a cluster do. */
export const controllerHandlers = (
  local: LocalRecords,
  connect: MonitorDependencies['connect'],
): Pick<Handlers, 'controllers.view'> => ({
  'controllers.view': async ({ cluster }) => {
    const { viewControllers, viewControllersByApi } =
      await import('../../core/cluster/controllers/view-controllers.ts');
    const { client } = await connect(cluster);
    const record = local.find(cluster);
    return record
      ? viewControllers(running(record), record.cluster.config, client)
      : viewControllersByApi(client);
  },
});
