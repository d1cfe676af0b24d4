import type { ClusterEntry } from '../../core/contract/index.ts';

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;
/** A word as a POSIX shell reads it back. */
export const quoted = (word: string): string =>
  PLAIN.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** The line that does the same in a shell: which cluster, which namespace, then what. */
export const kubectlLine = (
  cluster:
    (Pick<ClusterEntry, 'kubeconfigPath' | 'name'> & Partial<Pick<ClusterEntry, 'origin'>>) | undefined,
  namespace: string,
  words: readonly string[],
): string =>
  [
    'kubectl',
    ...(cluster ? ['--kubeconfig', cluster.kubeconfigPath] : []),
    // The file of a cluster of our own has one context, which is not named as the cluster is.
    ...(cluster && cluster.origin !== 'local' ? ['--context', cluster.name] : []),
    ...(namespace === '' ? [] : ['-n', namespace]),
    ...words,
  ]
    .map(quoted)
    .join(' ');
