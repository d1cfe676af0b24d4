import type {
  AdoptedContainer,
  AdoptedSandbox,
  ContainerExit,
  ContainerRequest,
  HeldPod,
  RunningContainer,
  Runtime,
  Sandbox,
  SandboxRequest,
} from '../runtimes/runtime.ts';

interface Held {
  readonly pod: HeldPod;
  readonly sandbox: Sandbox;
  readonly containers: Map<string, AdoptedContainer>;
  onEnd: (() => void) | undefined;
}

/** A runtime whose containers survive the kubelet, on top of one whose containers do not. */
export const durable = (
  inner: Runtime,
  nowMs: () => number,
): Runtime & { endSandbox(uid: string): void; readonly started: string[] } => {
  const held = new Map<string, Held>();
  const started: string[] = [];

  const note = (
    of: Held,
    { container, attempt, image }: ContainerRequest,
    running: RunningContainer,
  ): void => {
    const known = of.containers.get(container.name);
    const found: AdoptedContainer & { exit: (ContainerExit & { finishedMs: number }) | undefined } = {
      name: container.name,
      attempt,
      container: running,
      image: container.image ?? '',
      imageID: image.imageID,
      startedMs: nowMs(),
      exit: undefined,
      previous: known,
    };
    of.containers.set(container.name, found);
    running.onExit((exit) => (found.exit = { ...exit, finishedMs: nowMs() }));
  };

  const watched = (of: Held, { attempt }: SandboxRequest): Sandbox => ({
    podIPs: of.sandbox.podIPs,
    onEnd: (listener) => (of.onEnd = listener),
    async startContainer(request) {
      started.push(`${request.container.name}/${attempt}/${request.attempt}`);
      const running = await of.sandbox.startContainer(request);
      note(of, request, running);
      return running;
    },
    dial: (port) => of.sandbox.dial(port),
    stop: () => of.sandbox.stop(),
  });

  return {
    name: 'durable',
    version: '1',
    isDurable: true,
    started,
    endSandbox: (uid) => held.get(uid)?.onEnd?.(),
    async createSandbox(request) {
      const { uid = '', name = '', namespace = '' } = request.pod.metadata ?? {};
      const sandbox = await inner.createSandbox(request);
      const of: Held = { pod: { uid, name, namespace }, sandbox, containers: new Map(), onEnd: undefined };
      held.set(uid, of);
      return watched(of, request);
    },
    adoptSandbox(request): Promise<AdoptedSandbox | undefined> {
      const of = request.attempt === 0 ? held.get(request.pod.metadata?.uid ?? '') : undefined;
      return Promise.resolve(
        of && { sandbox: watched(of, request), containers: [...of.containers.values()] },
      );
    },
    heldPods: () => Promise.resolve([...held.values()].map(({ pod }) => pod)),
    removePod(uid) {
      held.delete(uid);
      return Promise.resolve();
    },
    findImage: (image) => inner.findImage(image),
    pullImage: (request) => inner.pullImage(request),
    images: () => inner.images(),
    usage: (containers) => inner.usage(containers),
  };
};
