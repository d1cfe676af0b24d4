/**
 * A restored member has no log yet, and takes from its flags who it is and who the others are: those of the cluster as
 * it is now, not as it was when the member was made. Flags alone are replaced; what an operator has written stays.
 */
export const withInitialCluster = (manifest: string, initialCluster: string): string =>
  manifest
    .replace(/(--initial-cluster=)[^\s"']+/, `$1${initialCluster}`)
    .replace(/(--initial-cluster-state=)[^\s"']+/, '$1new');
