import { POD, type Client, type WatchStream, type Pod } from '../../core/client/index.ts';

export interface PodHistory {
  /** Every node that a pod has had, by its uid, in order. One name when it was bound once. */
  readonly nodes: ReadonlyMap<string, readonly string[]>;
  readonly created: number;
  readonly bound: number;
  /** Called with the number of bound pods when it has grown. */
  onBound: (count: number) => void;
  onCreated: (count: number) => void;
  stop(): void;
}

/** All that happens to the pods of a namespace from now on. A watch tells every change, so nothing is missed. */
export const watchPods = async (client: Client, namespace: string): Promise<PodHistory> => {
  const nodes = new Map<string, string[]>();
  const stream: WatchStream<Pod> = await client
    .resource(POD, namespace)
    .watch({ timeoutSeconds: 600, resourceVersion: '0' });
  let bound = 0;
  const history = {
    nodes,
    get created() {
      return nodes.size;
    },
    get bound() {
      return bound;
    },
    onBound: (_count: number): void => undefined,
    onCreated: (_count: number): void => undefined,
    stop: () => stream.dispose(),
  };
  void (async () => {
    for await (const { object } of stream) {
      const { uid } = object.metadata;
      let known = nodes.get(uid);
      if (!known) {
        nodes.set(uid, (known = []));
        history.onCreated(nodes.size);
      }
      const node = object.spec?.nodeName;
      if (node === undefined || node === known.at(-1)) continue;
      known.push(node);
      bound += 1;
      history.onBound(bound);
    }
  })().catch(() => undefined);
  return history;
};
