import { shellLine } from '../../base/shell-words.ts';
import { traitsOf, type ClusterAction } from './actions.ts';

/** Where a command line finds the cluster: the data folder of one of ours, a kubeconfig of any. */
export interface CommandTarget {
  readonly directory: string | undefined;
  readonly kubeconfigPath: string | undefined;
}

/** The line that does the same in a shell; undefined where there is none. */
export const actionCommand = (action: ClusterAction, target: CommandTarget): string | undefined => {
  const { line, words } = traitsOf(action);
  if (line) return shellLine(line(action, target.kubeconfigPath));
  const own = words?.(action);
  return (
    own &&
    shellLine(['pilothouse', ...own, ...(target.directory === undefined ? [] : ['--data', target.directory])])
  );
};
