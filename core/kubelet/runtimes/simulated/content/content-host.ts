import { nodeBindRules } from '../../../../base/bind-rules.ts';
import type { Clock } from '../../../../base/clock.ts';
import { messageOf } from '../../../../base/errors.ts';
import type { VolumeContent } from '../../../volumes/pod-volumes.ts';
import { isRuntimeError, RuntimeError, type ExecSession } from '../../runtime.ts';
import { MESSAGE_BYTES_MAX } from '../../termination-message.ts';
import { startExec } from '../exec-session.ts';
import { ListenerPool, type Listeners } from '../pod-listeners.ts';
import { Budget, StepQuota, THREAD_STEPS_MAX } from '../shell/budget.ts';
import { MemoryFileSystem, newLayer, type WritableLayer } from '../shell/file-system.ts';
import { Shell } from '../shell/interpreter.ts';
import { noInput } from '../shell/pipe.ts';
import type { ShellHost } from '../shell/process.ts';
import { Signals } from '../shell/signals.ts';
import { understands } from '../shell/understands.ts';
import { FLUSH_MS_DEFAULT, LogOutlet } from './log-outlet.ts';
import type {
  CommandStart,
  ContainerFacts,
  ContentRequest,
  FromContent,
  OpenedPorts,
  StreamMessage,
  ToContent,
} from './messages.ts';
import { PolicyGate } from './policy-gate.ts';
import { PortStream } from './port-stream.ts';

const KERNEL_VERSION = '6.6.0-simulated';

/** What the program has left at the path of its termination message. */
const readMessage = (files: MemoryFileSystem, path: string): string => {
  if (!files.exists(path) || files.isDirectory(path)) return '';
  return Buffer.from(files.read(path)).toString('utf8', 0, MESSAGE_BYTES_MAX);
};

interface Container {
  readonly facts: ContainerFacts;
  readonly budget: Budget;
  readonly layer: WritableLayer;
  readonly createdMs: number;
  readonly abort: AbortController;
  readonly signals: Signals;
  readonly sessions: Set<ExecSession>;
  listeners: Listeners | undefined;
}

export interface ContentHostOptions {
  readonly clock: Clock;
  post(message: FromContent): void;
  /** Which container is at work now, for anyone who finds this thread dead. */
  onWork(ordinal: number): void;
  readonly flushMs?: number;
}

/**
 * Runs whatever users' content drives: programs of simulated containers, their shells, the answers of their ports. It
 * knows nothing of pods and nodes but what it is told, so that it can live and die in a thread of its own.
 */
export class ContentHost {
  readonly #options: ContentHostOptions;
  readonly #gate: PolicyGate;
  readonly #pool: ListenerPool;
  readonly #quota: StepQuota;
  readonly #logs: LogOutlet;
  readonly #containers = new Map<number, Container>();
  readonly #sessions = new Map<number, ExecSession>();
  readonly #streams = new Map<number, PortStream>();
  /** Scratch volumes by pod and name: they outlive their containers. */
  readonly #volumes = new Map<string, Map<string, VolumeContent>>();

  constructor(options: ContentHostOptions) {
    this.#options = options;
    this.#gate = new PolicyGate((message) => options.post(message));
    this.#pool = new ListenerPool(options.clock, this.#gate);
    this.#quota = new StepQuota(options.clock, THREAD_STEPS_MAX);
    this.#logs = new LogOutlet(options.clock, options.flushMs ?? FLUSH_MS_DEFAULT, (entries) =>
      options.post({ kind: 'log', entries }),
    );
  }

  receive(message: ToContent): void {
    switch (message.kind) {
      case 'create':
        return this.#create(message.facts);
      case 'request':
        return void this.#answer(message.request, message.body);
      case 'resize':
        return this.#sessions.get(message.session)?.resize(message.size);
      case 'kill':
        return this.#sessions.get(message.session)?.kill();
      case 'remove':
        return this.#remove(message.container);
      case 'forget':
        return void this.#volumes.delete(message.podUid);
      case 'ping':
        return this.#options.post({ kind: 'pong', id: message.id });
      case 'policed':
        this.#gate.isPoliced = message.isPoliced;
        return;
      case 'judged':
        return this.#gate.judged(message.id, message.judgement);
      case 'data':
      case 'ack':
      case 'end':
      case 'close':
        this.#streams.get(message.stream)?.receive(message);
    }
  }

  dispose(): void {
    for (const ordinal of [...this.#containers.keys()]) this.#remove(ordinal);
    for (const stream of this.#streams.values()) stream.destroy();
    this.#logs.dispose();
  }

  #create(facts: ContainerFacts): void {
    const { clock, onWork } = this.#options;
    const onStep = (): void => onWork(facts.ordinal);
    this.#containers.set(facts.ordinal, {
      facts,
      budget: new Budget(clock, { shared: this.#quota, onStep }),
      layer: newLayer(facts.files),
      createdMs: clock.monotonicMs(),
      abort: new AbortController(),
      signals: new Signals(),
      sessions: new Set(),
      listeners: undefined,
    });
  }

  async #answer(request: number, body: ContentRequest): Promise<void> {
    try {
      this.#options.post({ kind: 'answer', request, result: await this.#handle(body) });
    } catch (error) {
      const reason = isRuntimeError(error) ? error.reason : 'RunContainerError';
      this.#options.post({ kind: 'failed', request, failure: { reason, message: messageOf(error) } });
    }
  }

  #handle(body: ContentRequest): unknown {
    if (body.ask === 'understands') return understands(body.argv);
    const container = this.#containers.get(body.container);
    if (!container) throw new RuntimeError('ExecFailed', 'container is not running');
    this.#options.onWork(body.container);
    switch (body.ask) {
      case 'open':
        return this.#open(container, body.ports);
      case 'run':
        void this.#run(container, body);
        return undefined;
      case 'exec':
        return this.#exec(container, body);
      case 'signal':
        return container.signals.deliver(body.name);
      case 'dial': {
        const { port, stream } = body;
        if (!container.listeners?.unbound.includes(port))
          throw new RuntimeError('ExecFailed', 'connection refused');
        this.#pool.serve(this.#stream(stream), this.#responder(container));
      }
    }
  }

  async #open(
    container: Container,
    ports: Extract<ContentRequest, { ask: 'open' }>['ports'],
  ): Promise<OpenedPorts> {
    const { podIP: address, hostIP, isControlPlane } = container.facts;
    const listeners = await this.#pool.open(ports, {
      address,
      hostIP,
      hostRules: nodeBindRules(hostIP, isControlPlane),
      responder: this.#responder(container),
    });
    if (!this.#containers.has(container.facts.ordinal)) listeners.close();
    container.listeners = listeners;
    const numbers = [...new Set(ports.map(({ containerPort }) => containerPort))];
    return { bound: numbers.filter((port) => listeners.isListening(port)), unbound: listeners.unbound };
  }

  #responder({ facts, createdMs }: Container) {
    const { clock, onWork } = this.#options;
    const { ordinal } = facts;
    return {
      pod: facts.podName,
      namespace: facts.namespace,
      node: facts.nodeName,
      container: facts.containerName,
      revision: facts.revision,
      ip: facts.podIP,
      isUp: () => {
        onWork(ordinal);
        return clock.monotonicMs() - createdMs >= facts.notReadyMs;
      },
      onRequest: (text: string) =>
        this.#logs.offer({ container: ordinal, stream: 'stdout', text: `${text}\n` }),
    };
  }

  async #run(container: Container, start: CommandStart): Promise<void> {
    const { ordinal } = container.facts;
    const write = (stream: 'stdout' | 'stderr') => (text: string) =>
      this.#logs.write({ container: ordinal, stream, text });
    const host = { ...this.#shellHost(container, start), isInit: true };
    const shell = new Shell({
      host,
      environment: start.environment,
      signal: container.abort.signal,
      cwd: container.facts.workingDirectory,
    });
    const code = await shell.runCommand(start.argv, {
      input: noInput,
      out: write('stdout'),
      err: write('stderr'),
      ready: () => this.#logs.ready(ordinal),
    });
    shell.dispose();
    this.#logs.finish(ordinal);
    const message = readMessage(host.fileSystem, container.facts.messagePath);
    if (this.#containers.has(ordinal))
      this.#options.post({ kind: 'exit', container: ordinal, code, message });
  }

  #exec(container: Container, body: Extract<ContentRequest, { ask: 'exec' }>): void {
    const stdout = this.#stream(body.stream);
    const stderr = body.errorStream === undefined ? undefined : this.#stream(body.errorStream);
    const close = (): void => {
      stdout.end();
      stderr?.end();
      // What no one reads any more must not keep the stream.
      stdout.resume();
      stderr?.resume();
    };
    try {
      const session = startExec(
        this.#shellHost(container, body),
        body.environment,
        {
          command: body.argv,
          tty: body.tty,
          ...(body.hasStdin && { stdin: stdout }),
          stdout,
          ...(stderr && { stderr }),
        },
        container.facts.workingDirectory,
      );
      this.#sessions.set(body.session, session);
      container.sessions.add(session);
      void session.exitCode.then((code) => {
        this.#sessions.delete(body.session);
        container.sessions.delete(session);
        close();
        this.#options.post({ kind: 'session-exit', session: body.session, code });
      });
    } catch (error) {
      close();
      throw error;
    }
  }

  #shellHost({ facts, layer, budget, signals }: Container, { mounts }: CommandStart): ShellHost {
    const mounted = mounts.map(({ path, volume, subPath, isReadOnly, files, top }) => ({
      path,
      top,
      subPath,
      isReadOnly,
      content: files ? { isWritable: false, files: new Map(files) } : this.#volume(facts.podUid, volume),
    }));
    return {
      clock: this.#options.clock,
      hostname: facts.hostname,
      podName: facts.podName,
      namespace: facts.namespace,
      nodeName: facts.nodeName,
      podIP: facts.podIP,
      kernelVersion: KERNEL_VERSION,
      user: facts.user,
      init: facts.init,
      signals,
      fileSystem: new MemoryFileSystem(layer, mounted, {
        charge: (characters) => budget.charge(characters),
        nowMs: () => this.#options.clock.nowMs(),
        user: facts.user,
        isReadOnlyRoot: facts.isReadOnlyRoot,
        writable: [facts.messagePath],
      }),
      budget,
      networks: facts.networks,
      dns: facts.dns,
      mayConnect: ({ protocol, address, port }) =>
        this.#gate.judge({ kind: 'connect', from: facts.podIP, to: address, protocol, port }),
    };
  }

  #volume(podUid: string, name: string): VolumeContent {
    const volumes = this.#volumes.get(podUid) ?? new Map<string, VolumeContent>();
    this.#volumes.set(podUid, volumes);
    const volume = volumes.get(name) ?? { isWritable: true, files: new Map() };
    volumes.set(name, volume);
    return volume;
  }

  #stream(id: number): PortStream {
    const stream = new PortStream(id, (message: StreamMessage) => this.#options.post(message));
    this.#streams.set(id, stream);
    stream.once('close', () => this.#streams.delete(id));
    return stream;
  }

  #remove(ordinal: number): void {
    const container = this.#containers.get(ordinal);
    if (!container) return;
    this.#containers.delete(ordinal);
    container.abort.abort();
    for (const session of container.sessions) session.kill();
    container.listeners?.close();
    this.#logs.finish(ordinal);
  }
}
