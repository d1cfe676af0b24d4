import { listAt, textAt, type KubeObject } from '../../../kinds/kube-object.ts';

/** A port that something can be forwarded from. */
export interface ForwardPort {
  readonly port: number;
  /** `http`, `8443 of the service`: whatever the object calls it. */
  readonly name: string;
  readonly container: string;
}

export const PORT_MAX = 65_535;

/** TCP ports that a pod declares; others may be open all the same. */
export const podPorts = (pod: KubeObject | undefined): ForwardPort[] =>
  ['containers', 'initContainers'].flatMap((field) =>
    listAt(pod, 'spec', field).flatMap((container) =>
      listAt(container, 'ports')
        .filter((port) => (textAt(port, 'protocol') || 'TCP') === 'TCP')
        .map((port) => ({
          port: Number(port['containerPort']),
          name: textAt(port, 'name'),
          container: textAt(container, 'name'),
        })),
    ),
  );

/** Where a service's ports lead in one of its pods: `targetPort` may be a name that only the pod knows. */
export const servicePorts = (service: KubeObject, pod: KubeObject | undefined): ForwardPort[] =>
  listAt(service, 'spec', 'ports')
    .filter((port) => (textAt(port, 'protocol') || 'TCP') === 'TCP')
    .flatMap((port) => {
      const wanted = textAt(port, 'targetPort') || textAt(port, 'port');
      const found = /^\d+$/.test(wanted)
        ? Number(wanted)
        : podPorts(pod).find(({ name }) => name === wanted)?.port;
      const name = textAt(port, 'name');
      return found === undefined
        ? []
        : [
            {
              port: found,
              name: name === '' ? textAt(port, 'port') : `${name} (${textAt(port, 'port')})`,
              container: '',
            },
          ];
    });

const isReady = (pod: KubeObject): boolean =>
  textAt(pod, 'status', 'phase') === 'Running' &&
  textAt(pod, 'metadata', 'deletionTimestamp') === '' &&
  listAt(pod, 'status', 'conditions').some(
    (condition) => textAt(condition, 'type') === 'Ready' && textAt(condition, 'status') === 'True',
  );

/** The pod that `kubectl port-forward service/…` would take: one that is ready, the oldest of them. */
export const podForForward = (pods: readonly KubeObject[]): KubeObject | undefined => {
  const created = (pod: KubeObject): string => textAt(pod, 'metadata', 'creationTimestamp');
  return pods.filter(isReady).sort((a, b) => (created(a) < created(b) ? -1 : 1))[0];
};

/** Empty for a free one; undefined when it is none. */
export const parsePort = (text: string): number | undefined => {
  const port = /^\d{1,5}$/.test(text.trim()) ? Number(text) : 0;
  return port >= 1 && port <= PORT_MAX ? port : undefined;
};
