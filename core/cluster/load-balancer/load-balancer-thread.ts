import { Worker, type MessagePort } from 'node:worker_threads';
import { say, SaidError } from '../../contract/index.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { silentLog } from '../../base/log.ts';
import { installLinkGate, type LinkRule } from '../faults/link-gate.ts';
import { runLoadBalancer, type LoadBalancerConfig } from './run-load-balancer.ts';
import type { Backend } from './backend-pool.ts';
import type { LoadBalancerState } from './load-balancer.ts';

/** A thread that is asked to end and does not is terminated: an end of the cluster never waits for a connection. */
const CLOSE_LIMIT_MS = 10_000;
/** Of its connections, within the one above. */
const CONNECTIONS_END_MS = 2_000;
/**
 * After that it does not end at all. Seen with Node 20 on a machine with much to do: a thread that is ended with a
 * request of a connection in progress waits for it for ever (Environment::CleanupHandles), and `process.exit` waits for it.
 */
const TERMINATE_LIMIT_MS = 3_000;

/** What makes a worker of the host program a load balancer. */
export interface LoadBalancerStart {
  readonly loadBalancer: LoadBalancerConfig;
}

type FromThread =
  | { readonly kind: 'listening' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'advertised'; readonly problem?: string }
  | { readonly kind: 'state'; readonly state: LoadBalancerState };

type ToThread =
  | { readonly kind: 'advertise'; readonly address?: string }
  | { readonly kind: 'backends'; readonly backends: readonly Backend[] }
  | { readonly kind: 'state' }
  | { readonly kind: 'links'; readonly links: readonly LinkRule[] }
  | { readonly kind: 'close' };

/** The inside of the thread. */
export const runLoadBalancerThread = async (
  { loadBalancer }: LoadBalancerStart,
  port: MessagePort,
): Promise<void> => {
  const tell = (message: FromThread): void => port.postMessage(message);
  const { address } = loadBalancer;
  const gate = installLinkGate({ address, network: address.split('.').slice(0, 2).join('.') + '.' });
  try {
    const balancer = await runLoadBalancer(loadBalancer, silentLog);
    balancer.onChange((state) => tell({ kind: 'state', state }));
    port.on('message', (message: ToThread) => {
      if (message.kind === 'backends') balancer.update(message.backends);
      else if (message.kind === 'links') gate.setRules(message.links);
      else if (message.kind === 'state') tell({ kind: 'state', state: balancer.state() });
      else if (message.kind === 'advertise')
        balancer.setAdvertised(message.address).then(
          () => tell({ kind: 'advertised' }),
          (error: unknown) => tell({ kind: 'advertised', problem: messageOf(error) }),
        );
      else
        void balancer
          .close()
          .then(() => gate.endAll(CONNECTIONS_END_MS))
          .finally(() => {
            port.close();
            // What a connection left behind must not keep the thread; nothing is read while it ends.
            gate.silence();
            setImmediate(() => process.exit(0));
          });
    });
    tell({ kind: 'listening' });
  } catch (error) {
    tell({ kind: 'failed', message: messageOf(error) });
    port.close();
  }
};

const within = async (event: Promise<void>, limitMs: number): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => (timer = setTimeout(() => resolve(false), limitMs)));
  const isInTime = await Promise.race([event.then(() => true), late]);
  clearTimeout(timer);
  return isInTime;
};

export interface LoadBalancerThread {
  state(): LoadBalancerState | undefined;
  setBackends(backends: readonly Backend[]): void;
  /** Listens on a second address, or on none; rejects where it cannot. One at a time. */
  setAdvertised(address: string | undefined): Promise<void>;
  /** Links between it and hosts that are broken intentionally. */
  setLinks(links: readonly LinkRule[]): void;
  /** False where the thread does not end: then its process cannot end in order either. */
  close(): Promise<boolean>;
}

export interface LoadBalancerEvents {
  onState(state: LoadBalancerState): void;
  /** It listened and has ended without being asked to. */
  onEnded(why: string): void;
}

/**
 * The load balancer in a thread of its own: what its supervisor does never delays a connection. Resolves when it listens;
 * rejects when it ends before.
 */
export const startLoadBalancerThread = async (
  program: URL,
  config: LoadBalancerConfig,
  { onState, onEnded }: LoadBalancerEvents,
): Promise<LoadBalancerThread> => {
  const start: LoadBalancerStart = { loadBalancer: config };
  const worker = new Worker(program, { workerData: start, resourceLimits: { maxYoungGenerationSizeMb: 8 } });
  const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  const send = (message: ToThread): void => worker.postMessage(message);
  let last: LoadBalancerState | undefined;
  let isAsked = false;
  let advertised: (problem?: string) => void = () => undefined;
  let why = 'its thread exited';
  await new Promise<void>((resolve, reject) => {
    worker.on('message', (message: FromThread) => {
      if (message.kind === 'listening') resolve();
      else if (message.kind === 'advertised') advertised(message.problem);
      else if (message.kind === 'failed') reject(new ReasonError('CannotListen', message.message));
      else {
        last = message.state;
        onState(message.state);
      }
    });
    worker.once('error', (cause) => (why = messageOf(cause)));
    void exited.then(() => reject(new SaidError('LoadBalancerFailed', say('failure.loadBalancer', { why }))));
  });
  void exited.then(() => {
    if (!isAsked) onEnded(why);
  });
  return {
    state: () => last,
    setBackends: (backends) => send({ kind: 'backends', backends }),
    setLinks: (links) => send({ kind: 'links', links }),
    setAdvertised: (address) =>
      new Promise<void>((resolve, reject) => {
        advertised = (problem) =>
          problem === undefined ? resolve() : reject(new ReasonError('CannotListen', problem));
        void exited.then(() => reject(new ReasonError('CannotListen', 'the load balancer has ended')));
        send({ kind: 'advertise', ...(address !== undefined && { address }) });
      }),
    async close() {
      isAsked = true;
      send({ kind: 'close' });
      if (await within(exited, CLOSE_LIMIT_MS)) return true;
      void worker.terminate();
      return within(exited, TERMINATE_LIMIT_MS);
    },
  };
};
