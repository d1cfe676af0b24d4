import { randomBytes } from 'node:crypto';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Clock } from '../../core/base/clock.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import type { Random } from '../../core/base/random.ts';
import { pause, POD as POD_KIND } from '../../core/client/index.ts';
import {
  ContractError,
  type Handlers,
  type InputOf,
  type PortForward,
  type Said,
  saidOf,
  say,
  verbatim,
} from '../../core/contract/index.ts';
import type { ClusterConnection } from './connections.ts';
import { kubeFailure } from './failure.ts';
import { FORWARD_PROTOCOLS, tunnel } from './forward-tunnel.ts';
import { dialPodSocket } from './pod-socket.ts';
import { followPod, type FollowedForward } from './follow-pod.ts';
import { replacementSelector } from './replacement-pod.ts';

export const FORWARDS_MAX = 32;
export const CONNECTIONS_PER_FORWARD_MAX = 64;
const LOOPBACK = '127.0.0.1';
/** Counters move with every byte; the console is told this often at most. */
const TELL_INTERVAL_MS = 250;
const ID_BYTES = 8;
/** How long a new connection waits for the next pod. */
const REPLACEMENT_WAIT_MS = 15_000;

export interface ForwardDependencies {
  /** Refuses what the user has not unlocked: a tunnel into a pod can change things. */
  readonly connect: (cluster: string) => Promise<ClusterConnection>;
  readonly clock: Clock;
  readonly random: Random;
}

interface Forward extends FollowedForward {
  readonly server: Server;
  readonly locals: Set<Socket>;
  readonly stop: AbortController;
}

const listen = (server: Server, port: number): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new ContractError(
          error.code === 'EADDRINUSE' ? 'Conflict' : 'BadRequest',
          error.code === 'EADDRINUSE'
            ? say('failure.portInUse', { port: `${port}` })
            : say('failure.cannotListen', { port: `${port}`, why: error.message }),
          { cause: error },
        ),
      ),
    );
    server.listen(port, LOOPBACK, () => resolve((server.address() as AddressInfo).port));
  });

/** Ports of pods on this machine's loopback, for as long as the host runs or until they are closed. */
export const createForwardHandlers = ({
  connect,
  clock,
  random,
}: ForwardDependencies): Disposable & { readonly handlers: Handlers } => {
  const forwards = new Map<string, Forward>();
  const listeners = new Set<() => void>();
  let telling: Disposable | undefined;

  const tell = (): void => {
    telling ??= clock.after(TELL_INTERVAL_MS, () => {
      telling = undefined;
      for (const wake of listeners) wake();
    });
  };
  const change = (forward: Forward, patch: Partial<PortForward>): void => {
    forward.view = { ...forward.view, ...patch };
    tell();
  };
  /** Frees the port; the entry stays, with the reason, until it is closed. */
  const end = (forward: Forward, problem: Said | null): void => {
    forward.stop.abort();
    forward.server.close();
    for (const local of forward.locals) local.destroy();
    change(forward, { problem, isWaiting: false });
  };

  const accept = async (forward: Forward, local: Socket): Promise<void> => {
    if (forward.locals.size >= CONNECTIONS_PER_FORWARD_MAX) {
      local.destroy();
      change(forward, {
        problem: say('failure.connectionsMax', { max: CONNECTIONS_PER_FORWARD_MAX }),
      });
      return;
    }
    forward.locals.add(local);
    change(forward, { connections: forward.locals.size });
    let problem: Said | null;
    try {
      // A client that connects while the pod is replaced is served by the next one.
      if (forward.view.isWaiting)
        await Promise.race([forward.awaited, pause(clock, REPLACEMENT_WAIT_MS, forward.stop.signal)]);
      const { namespace, pod, remotePort, cluster } = forward.view;
      const { config } = await connect(cluster);
      const remote = await dialPodSocket(
        config,
        {
          namespace,
          pod,
          subresource: 'portforward',
          parameters: new URLSearchParams({ ports: String(remotePort) }),
          protocols: FORWARD_PROTOCOLS,
        },
        clock,
        forward.stop.signal,
      );
      const told = await tunnel(local, remote, {
        clock,
        onBytes: (count) => change(forward, { bytes: forward.view.bytes + count }),
      });
      problem = told === '' ? null : verbatim(told);
    } catch (error) {
      problem = saidOf(error);
      local.destroy();
    }
    forward.locals.delete(local);
    // What ended the forward stays said; a connection that went well takes back what an earlier one said.
    change(forward, {
      connections: forward.locals.size,
      ...(!forward.stop.signal.aborted && !forward.view.isWaiting && { problem }),
    });
  };

  const follow = (forward: Forward): Promise<void> =>
    followPod(forward, {
      connect,
      clock,
      random,
      change: (patch) => change(forward, patch),
      end: (why) => end(forward, why),
    });

  const open = async (input: InputOf<'forwards.open'>, signal: AbortSignal): Promise<PortForward> => {
    if (forwards.size >= FORWARDS_MAX)
      throw new ContractError('Unavailable', say('failure.forwardsMax', { max: FORWARDS_MAX }));
    const { namespace, pod: name, localPort, ...rest } = input;
    const connection = await connect(input.cluster);
    const pod = await connection.client
      .resource(POD_KIND, namespace)
      .get(name, { signal })
      .catch((error: unknown) => {
        throw kubeFailure(error);
      });
    if (pod.status?.phase !== 'Running')
      throw new ContractError('Conflict', say('failure.podNotRunning', { phase: pod.status?.phase ?? '' }));
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true });
    const forward: Forward = {
      view: {
        ...rest,
        id: randomBytes(ID_BYTES).toString('hex'),
        namespace,
        pod: name,
        localPort: await listen(server, localPort),
        connections: 0,
        bytes: 0,
        problem: null,
        isWaiting: false,
      },
      replacement: replacementSelector(pod),
      awaited: Promise.resolve(),
      server,
      locals: new Set(),
      stop: new AbortController(),
    };
    server.on('connection', (local) => void accept(forward, local));
    server.on('error', (error) => end(forward, saidOf(error)));
    forwards.set(forward.view.id, forward);
    void follow(forward);
    tell();
    return forward.view;
  };

  const close = (id: string): void => {
    const forward = forwards.get(id);
    if (!forward) return;
    forwards.delete(id);
    end(forward, null);
  };

  const list = (): PortForward[] => [...forwards.values()].map(({ view }) => view);

  const handlers: Handlers = {
    'forwards.open': open,
    'forwards.close': async ({ id }) => {
      close(id);
      return undefined;
    },
    'forwards.watch': async function* (_input, signal) {
      let isChanged = true;
      let wake = (): void => undefined;
      const onChange = (): void => {
        isChanged = true;
        wake();
      };
      const onAbort = (): void => wake();
      listeners.add(onChange);
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        while (!signal.aborted) {
          if (isChanged) {
            isChanged = false;
            yield [list()];
          } else await new Promise<void>((resolve) => (wake = resolve));
        }
      } finally {
        listeners.delete(onChange);
        signal.removeEventListener('abort', onAbort);
      }
    },
  };
  return {
    handlers,
    dispose() {
      for (const id of [...forwards.keys()]) close(id);
      telling?.dispose();
    },
  };
};
