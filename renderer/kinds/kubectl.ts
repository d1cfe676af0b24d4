import { shellLine } from '../../core/base/shell-words.ts';
import type { ClusterEntry } from '../../core/contract/index.ts';

/** The line that does the same in a shell: which cluster, which namespace, then what. */
export const kubectlLine = (
  cluster:
    (Pick<ClusterEntry, 'kubeconfigPath' | 'name'> & Partial<Pick<ClusterEntry, 'origin'>>) | undefined,
  namespace: string,
  words: readonly string[],
): string =>
  shellLine([
    'kubectl',
    ...(cluster ? ['--kubeconfig', cluster.kubeconfigPath] : []),
    // The file of a cluster of our own has one context, which is not named as the cluster is.
    ...(cluster && cluster.origin !== 'local' ? ['--context', cluster.name] : []),
    ...(namespace === '' ? [] : ['-n', namespace]),
    ...words,
  ]);
