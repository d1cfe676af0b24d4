import { at, containersOf, textAt, type KubeObject } from '../../../../kinds/kube-object.ts';

/** Logs that are read at a time; each is a connection to a kubelet. */
export const SOURCES_MAX = 20;
const COLOURS = 7;
/** The hash and the suffix of a pod's name, which tell it from its siblings. */
const TAIL_CHARACTERS = 16;

export interface SourceName {
  readonly pod: string;
  readonly container: string;
}

/** Containers of a pod, or of the pods that a workload makes. */
export const containerNames = (object: KubeObject): readonly string[] =>
  textAt(object, 'kind') === 'Pod'
    ? containersOf(object)
    : containersOf({ spec: at(at(object, 'spec', 'jobTemplate') ?? object, 'spec', 'template', 'spec') });

export const sourceId = ({ pod, container }: SourceName): string => `${pod}/${container}`;

/** What stands before a line: as little as tells the sources apart. */
export const sourceLabels = (
  sources: readonly SourceName[],
): ReadonlyMap<string, { readonly label: string; readonly colour: number }> => {
  if (sources.length < 2) return new Map();
  const pods = [...new Set(sources.map(({ pod }) => pod))];
  const hasContainers = new Set(sources.map(({ container }) => container)).size > 1;
  return new Map(
    sources.map((source) => {
      const parts = [
        ...(pods.length > 1 ? [source.pod.slice(-TAIL_CHARACTERS)] : []),
        ...(hasContainers ? [source.container] : []),
      ];
      // A pod keeps its colour; the containers of one pod have one each.
      const index = pods.length > 1 ? pods.indexOf(source.pod) : sources.indexOf(source);
      return [sourceId(source), { label: parts.join('/'), colour: (index % COLOURS) + 1 }];
    }),
  );
};
