import type { Duplex } from 'node:stream';
import type { Clock } from '../../../../base/clock.ts';
import type { V1ContainerPort } from '../../../../api/schema/index.ts';
import type { MemoryLog } from '../../memory-log.ts';
import { RuntimeError, type ContainerExit, type ExecRequest, type ExecSession } from '../../runtime.ts';
import type { ContentChannel, ContentFault, OpenContent } from './content-channel.ts';
import { Faults } from './faults.ts';
import type {
  CommandStart,
  Connecting,
  ConnectionJudge,
  ContainerFacts,
  ContentRequest,
  FromContent,
  OpenedPorts,
  ProgramExit,
  StreamMessage,
} from './messages.ts';
import type { SignalFate } from '../shell/signals.ts';
import { PortStream } from './port-stream.ts';
import { Watchdog } from './watchdog.ts';

/** A thread without containers is ended after so long. */
const IDLE_MS = 30_000;
const EXIT_SIGKILL = 137;
const SIGKILL = 9;

/** What the kubelet's side keeps of a container that has something on the other side. */
interface Registered {
  readonly facts: ContainerFacts;
  readonly log: MemoryLog;
  onProgramExit: (exit: ProgramExit) => void;
  onFault(exit: ContainerExit): void;
}

interface Session {
  readonly streams: readonly PortStream[];
  finish(code: number): void;
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export interface ContentClientOptions {
  readonly clock: Clock;
  readonly open: OpenContent;
  /** Absent: every connection is allowed. */
  readonly judge?: ConnectionJudge;
}

/**
 * The kubelet's side of what users' content drives. The other side starts with the first container that needs it and ends
 * when none is left. When it dies or hangs, every container that used it exits with the reason, and it is started again,
 * later each time.
 */
export class ContentClient {
  readonly #options: ContentClientOptions;
  readonly #containers = new Map<number, Registered>();
  readonly #requests = new Map<number, Pending>();
  readonly #sessions = new Map<number, Session>();
  readonly #streams = new Map<number, PortStream>();
  readonly #faults: Faults;
  #channel: ContentChannel | undefined;
  #watchdog: Watchdog | undefined;
  #idle: { dispose(): void } | undefined;
  #policing: { dispose(): void } | undefined;
  #nextId = 1;
  #isDisposed = false;
  /** Pods with something on the other side: their volumes keep it there between restarts of containers. */
  readonly #pods = new Set<string>();
  readonly #port: ContentPort;

  constructor(options: ContentClientOptions) {
    this.#options = options;
    this.#faults = new Faults(options.clock);
    this.#port = {
      register: (container) => this.#register(container),
      remove: (ordinal) => this.#remove(ordinal),
      request: (body) => this.#request(body),
      exec: (ordinal, start, request) => this.#exec(ordinal, start, request),
      dial: (ordinal, port) => this.#dial(ordinal, port),
      onProgramExit: (ordinal, listener) => {
        const registered = this.#containers.get(ordinal);
        if (registered) registered.onProgramExit = listener;
      },
    };
  }

  get isOpen(): boolean {
    return this.#channel !== undefined;
  }

  /** The other side of one container; nothing is started before it is used. */
  container(options: ContentContainerOptions): ContentContainer {
    return new ContentContainer(this.#port, options);
  }

  /** Whether the simulated shell knows every command of a script. */
  async understands(argv: readonly string[]): Promise<boolean> {
    await this.#connected();
    return (await this.#request({ ask: 'understands', argv })) === true;
  }

  /** The pod is gone: so are its volumes. */
  forget(podUid: string): void {
    if (!this.#pods.delete(podUid)) return;
    this.#channel?.post({ kind: 'forget', podUid });
    this.#whenIdle();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#close();
  }

  async #register({ describe, log, onFault }: ContentContainerOptions): Promise<number> {
    const facts = describe(this.#nextId++);
    this.#faults.check(facts);
    const channel = await this.#connected();
    this.#containers.set(facts.ordinal, { facts, log, onFault, onProgramExit: () => undefined });
    this.#pods.add(facts.podUid);
    channel.post({ kind: 'create', facts });
    this.#whenIdle();
    return facts.ordinal;
  }

  #remove(ordinal: number): void {
    if (!this.#containers.delete(ordinal)) return;
    this.#channel?.post({ kind: 'remove', container: ordinal });
    this.#whenIdle();
  }

  /** Once the time after the last fault is over. */
  async #connected(): Promise<ContentChannel> {
    await this.#faults.backOff();
    if (this.#isDisposed) throw new RuntimeError('RunContainerError', 'the host is stopping');
    if (!this.#channel) {
      const channel = this.#options.open();
      this.#channel = channel;
      channel.onMessage((message) => this.#receive(message));
      this.#police(channel);
      channel.onFault((fault) => {
        if (this.#channel === channel) this.#failed(fault);
      });
      this.#watchdog = new Watchdog(this.#options.clock, {
        ping: (id) => channel.post({ kind: 'ping', id }),
        onHang: (silentMs) =>
          this.#failed({ message: `it did not answer for ${silentMs / 1000}s`, isOutOfMemory: false }),
      });
    }
    return this.#channel;
  }

  #request(body: ContentRequest): Promise<unknown> {
    const channel = this.#channel;
    if (!channel) return Promise.reject(new RuntimeError('ExecFailed', 'container is not running'));
    const request = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#requests.set(request, { resolve, reject });
      channel.post({ kind: 'request', request, body });
    });
  }

  #receive(message: FromContent): void {
    switch (message.kind) {
      case 'answer':
      case 'failed': {
        const pending = this.#requests.get(message.request);
        this.#requests.delete(message.request);
        if (message.kind === 'answer') pending?.resolve(message.result);
        else pending?.reject(new RuntimeError(message.failure.reason, message.failure.message));
        return;
      }
      case 'log':
        for (const { container, stream, text } of message.entries)
          this.#containers.get(container)?.log.write(text, stream);
        return;
      case 'exit':
        return this.#containers.get(message.container)?.onProgramExit(message);
      case 'session-exit':
        return this.#sessions.get(message.session)?.finish(message.code);
      case 'pong':
        return this.#watchdog?.pong(message.id);
      case 'judge':
        return void this.#judge(message.id, message.connection);
      case 'data':
      case 'ack':
      case 'end':
      case 'close':
        this.#streams.get(message.stream)?.receive(message);
    }
  }

  async #judge(id: number, connection: Connecting): Promise<void> {
    const judgement = (await this.#options.judge?.judge(connection)) ?? { isAllowed: true };
    this.#channel?.post({ kind: 'judged', id, judgement });
  }

  /** Tells the other side whether it has to ask, now and at every change. */
  #police(channel: ContentChannel): void {
    const { judge } = this.#options;
    const tell = (): void => channel.post({ kind: 'policed', isPoliced: judge?.isPoliced ?? false });
    this.#policing?.dispose();
    this.#policing = judge?.onChange(tell);
    judge?.start();
    tell();
  }

  async #exec(ordinal: number, start: CommandStart, request: ExecRequest): Promise<ExecSession> {
    const session = this.#nextId++;
    const io = this.#stream();
    const err = request.tty || !request.stderr ? undefined : this.#stream();
    const streams = err ? [io, err] : [io];
    // Everything was handed over when the other side has ended its streams and they were read to the end.
    const read = streams.map(
      (stream) => new Promise<void>((resolve) => stream.once('close', resolve).once('end', resolve)),
    );
    request.stdin?.pipe(io);
    for (const [from, to] of [
      [io, request.stdout],
      [err, request.stderr],
    ] as const) {
      if (!from) continue;
      if (to) from.pipe(to, { end: false });
      else from.resume();
      // A client that is gone reads nothing more; what still comes is thrown away.
      to?.once('close', () => from.unpipe(to).resume());
    }
    const exitCode = new Promise<number>((resolve) =>
      this.#sessions.set(session, { streams, finish: resolve }),
    ).then(async (code) => {
      this.#sessions.delete(session);
      await Promise.all(read);
      for (const stream of streams) stream.destroy();
      return code;
    });
    const kill = (): void => {
      this.#channel?.post({ kind: 'kill', session });
      for (const stream of streams) stream.destroy();
    };
    try {
      await this.#request({
        ask: 'exec',
        container: ordinal,
        session,
        tty: request.tty,
        hasStdin: request.stdin !== undefined,
        stream: io.id,
        errorStream: err?.id,
        ...start,
      });
    } catch (error) {
      this.#sessions.get(session)?.finish(EXIT_SIGKILL);
      for (const stream of streams) stream.destroy();
      throw error;
    }
    return { exitCode, kill, resize: (size) => this.#channel?.post({ kind: 'resize', session, size }) };
  }

  async #dial(ordinal: number, port: number): Promise<Duplex> {
    const stream = this.#stream();
    try {
      await this.#request({ ask: 'dial', container: ordinal, port, stream: stream.id });
      return stream;
    } catch (error) {
      stream.destroy();
      throw error;
    }
  }

  #stream(): PortStream {
    const id = this.#nextId++;
    const stream = new PortStream(id, (message: StreamMessage) => this.#channel?.post(message));
    this.#streams.set(id, stream);
    stream.once('close', () => this.#streams.delete(id));
    return stream;
  }

  #whenIdle(): void {
    this.#idle?.dispose();
    this.#idle = undefined;
    if (this.#isUsed() || !this.#channel) return;
    this.#idle = this.#options.clock.after(IDLE_MS, () => {
      if (!this.#isUsed()) this.#close();
    });
  }

  #isUsed(): boolean {
    return this.#containers.size + this.#requests.size + this.#pods.size > 0;
  }

  #failed(fault: ContentFault): void {
    const culprit = this.#containers.get(this.#channel?.working() ?? 0);
    const ended = [...this.#containers.values()];
    this.#faults.record(culprit?.facts);
    this.#close();
    for (const registered of ended) registered.onFault(exitOf(fault, registered.facts, culprit?.facts));
  }

  #close(): void {
    this.#watchdog?.dispose();
    this.#policing?.dispose();
    this.#idle?.dispose();
    this.#channel?.close();
    this.#channel = undefined;
    this.#containers.clear();
    this.#pods.clear();
    for (const { reject } of this.#requests.values())
      reject(new RuntimeError('RunContainerError', 'the thread of simulated containers ended'));
    this.#requests.clear();
    for (const stream of [...this.#streams.values()]) stream.destroy();
    for (const { finish } of [...this.#sessions.values()]) finish(EXIT_SIGKILL);
  }
}

const nameOf = ({ namespace, podName, containerName }: ContainerFacts): string =>
  `${namespace}/${podName}/${containerName}`;

const exitOf = (
  fault: ContentFault,
  facts: ContainerFacts,
  culprit: ContainerFacts | undefined,
): ContainerExit => {
  const isCulprit = facts === culprit;
  const who = isCulprit ? 'this container' : culprit ? `container ${nameOf(culprit)}` : 'a container';
  const message = `the thread of simulated containers ended while ${who} was at work: ${fault.message}`;
  return {
    exitCode: EXIT_SIGKILL,
    signal: SIGKILL,
    reason: isCulprit && fault.isOutOfMemory ? 'OOMKilled' : 'Error',
    message,
    event: { reason: 'SimulationRestarted', message },
  };
};

export interface ContentContainerOptions {
  describe(ordinal: number): ContainerFacts;
  readonly log: MemoryLog;
  /** The thread is gone, and with it whatever the container did there. */
  onFault(exit: ContainerExit): void;
}

/** What a container asks of the other side. */
interface ContentPort {
  register(container: ContentContainerOptions): Promise<number>;
  remove(ordinal: number): void;
  request(body: ContentRequest): Promise<unknown>;
  exec(ordinal: number, start: CommandStart, request: ExecRequest): Promise<ExecSession>;
  dial(ordinal: number, port: number): Promise<Duplex>;
  onProgramExit(ordinal: number, listener: (exit: ProgramExit) => void): void;
}

/** One container of the other side, registered with its first use. */
export class ContentContainer {
  readonly #port: ContentPort;
  readonly #options: ContentContainerOptions;
  #ordinal: Promise<number> | undefined;
  #isRemoved = false;

  constructor(port: ContentPort, options: ContentContainerOptions) {
    this.#port = port;
    this.#options = options;
  }

  /** RuntimeError `RunContainerError` when a port is taken. */
  async open(ports: readonly V1ContainerPort[]): Promise<OpenedPorts> {
    const container = await this.#registered();
    return (await this.#port.request({ ask: 'open', container, ports })) as OpenedPorts;
  }

  /** Resolves with the exit; never when the container is removed or the thread ends before. */
  async run(start: CommandStart): Promise<ProgramExit> {
    const container = await this.#registered();
    const exited = new Promise<ProgramExit>((resolve) => this.#port.onProgramExit(container, resolve));
    await this.#port.request({ ask: 'run', container, ...start });
    return exited;
  }

  /** What the program makes of a signal. */
  async signal(name: string): Promise<SignalFate> {
    const container = await this.#registered();
    return (await this.#port.request({ ask: 'signal', container, name })) as SignalFate;
  }

  async exec(start: CommandStart, request: ExecRequest): Promise<ExecSession> {
    return this.#port.exec(await this.#registered(), start, request);
  }

  async dial(port: number): Promise<Duplex> {
    return this.#port.dial(await this.#registered(), port);
  }

  remove(): void {
    this.#isRemoved = true;
    void this.#ordinal?.then(
      (ordinal) => this.#port.remove(ordinal),
      () => undefined,
    );
  }

  #registered(): Promise<number> {
    if (this.#isRemoved) return Promise.reject(new RuntimeError('ExecFailed', 'container is not running'));
    return (this.#ordinal ??= this.#port.register(this.#options).catch((error: unknown) => {
      this.#ordinal = undefined;
      throw error;
    }));
  }
}
