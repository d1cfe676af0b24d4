import type { UpgradePlan } from '../../../core/contract/index.ts';

export interface VersionRow {
  readonly name: string;
  readonly kind: 'host' | 'node';
  /** By component; a node has its kubelet alone. */
  readonly versions: Readonly<Record<string, string>>;
}

/** Etcd has releases of its own and goes with none of Kubernetes. */
const isOfKubernetes = (component: string): boolean => component !== 'etcd';

/** What is in the matrix, in the order in which an upgrade goes through it. */
const ORDER = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'cloud-controller-manager',
  'kube-dns',
  'kubelet',
  'kube-proxy',
] as const;

const rank = (component: string): number => {
  const at = ORDER.findIndex((name) => name === component);
  return at === -1 ? ORDER.length : at;
};

export const versionRows = ({ hosts, nodes }: UpgradePlan): readonly VersionRow[] => {
  const kubelets = new Map(nodes.map(({ node, version }) => [node, version]));
  const rows = hosts.map(({ host, components }): VersionRow => {
    const kubelet = kubelets.get(host);
    kubelets.delete(host);
    const own = Object.entries(components).filter(([name]) => isOfKubernetes(name));
    return {
      name: host,
      kind: 'host',
      versions: Object.fromEntries([...own, ...(kubelet === undefined ? [] : [['kubelet', kubelet]])]),
    };
  });
  const others = [...kubelets].map(([name, kubelet]): VersionRow => ({
    name,
    kind: 'node',
    versions: { kubelet },
  }));
  return [...rows, ...others].filter(({ versions }) => Object.keys(versions).length > 0);
};

export const componentsOf = (rows: readonly VersionRow[]): readonly string[] =>
  [...new Set(rows.flatMap(({ versions }) => Object.keys(versions)))].sort(
    (a, b) => rank(a) - rank(b) || a.localeCompare(b),
  );

/** More than one release runs: an upgrade is in progress, or was left half done. */
export const releasesOf = (rows: readonly VersionRow[]): readonly string[] =>
  [...new Set(rows.flatMap(({ versions }) => Object.values(versions)))].sort();
