import { actionCommand, type ClusterAction } from '../../core/contract/index.ts';
import { useActionHistory } from '../stores/action-history.ts';
import { useClusterStore } from '../stores/clusters.ts';
import { actionTitle } from './action-words.ts';

/** Writes an operation that has begun to the action history. It cannot be taken back from there: each has a page that does. */
export const useRecordedAction = (): ((cluster: string, action: ClusterAction) => void) => {
  const history = useActionHistory();
  const clusters = useClusterStore();
  return (cluster, action) => {
    const entry = clusters.clusters.find(({ id }) => id === cluster);
    const command = actionCommand(action, {
      directory: entry?.local?.directory,
      kubeconfigPath: entry?.kubeconfigPath,
    });
    history.record({ cluster, title: actionTitle(action), command: command ?? '', undo: [] });
  };
};
