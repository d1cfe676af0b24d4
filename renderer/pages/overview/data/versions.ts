/** One thing that runs in one version. */
export interface Running {
  readonly component: string;
  readonly version: string;
}

export interface VersionLine {
  readonly component: string;
  /** Newest first. More than one while an upgrade is in progress, or when it stopped half way. */
  readonly versions: readonly { readonly version: string; readonly count: number }[];
}

const numbersOf = (version: string): readonly number[] => (version.match(/\d+/g) ?? []).map(Number);

export const compareVersions = (a: string, b: string): number => {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
};

/** Every component with the versions it runs in; those in more than one first. */
export const versionLines = (running: readonly Running[]): readonly VersionLine[] => {
  const byComponent = new Map<string, Map<string, number>>();
  for (const { component, version } of running) {
    if (version === '') continue;
    const counts = byComponent.get(component) ?? new Map<string, number>();
    counts.set(version, (counts.get(version) ?? 0) + 1);
    byComponent.set(component, counts);
  }
  return [...byComponent]
    .map(([component, counts]) => ({
      component,
      versions: [...counts]
        .map(([version, count]) => ({ version, count }))
        .sort((a, b) => compareVersions(b.version, a.version)),
    }))
    .sort((a, b) => b.versions.length - a.versions.length || a.component.localeCompare(b.component));
};

/** A line as it is shown; of several components where they agree. */
export interface FoldedLine extends VersionLine {
  readonly components: readonly string[];
}

/** Components of Kubernetes that all run in one version are one line: a healthy cluster repeats nothing. */
export const foldAgreeing = (lines: readonly VersionLine[]): readonly FoldedLine[] => {
  const ofKubernetes = lines.filter(({ component }) => component !== 'etcd');
  const first = ofKubernetes[0];
  const isOne = ofKubernetes.every(
    ({ versions }) => versions.length === 1 && versions[0]?.version === first?.versions[0]?.version,
  );
  const folded = lines.map((line) => ({ ...line, components: [line.component] }));
  if (!first || !isOne) return folded;
  return [
    { ...first, components: ofKubernetes.map(({ component }) => component) },
    ...folded.filter(({ component }) => component === 'etcd'),
  ];
};
