import type { Disposable } from '../../../base/disposable.ts';
import { messageOf } from '../../../base/errors.ts';
import type { V1Probe } from '../../../api/schema/index.ts';
import type { Clock } from '../../../base/clock.ts';
import type { MemoryLog } from '../memory-log.ts';
import { runThroughExec } from '../run-command.ts';
import {
  RuntimeError,
  type CommandRequest,
  type CommandResult,
  type ContainerExit,
  type ContainerUsage,
  type ExecRequest,
  type ExecSession,
  type ProbeAnswer,
  type ProbeKind,
  type RunningContainer,
} from '../runtime.ts';
import type { Behaviour } from './behaviour.ts';
import type { OpenedPorts, ProgramExit } from './content/messages.ts';
import { messageFromLog } from '../termination-message.ts';
import type { SignalFate } from './shell/signals.ts';
import type { Usage } from './usage.ts';

/** How a container spends its life. */
export interface Program {
  /** Runs until it ends or the container does; undefined for one that only waits. */
  run?(): Promise<ProgramExit>;
  /** It ends on its own without running anything. */
  readonly exit: { readonly afterMs: number; readonly code: number; readonly reason?: string } | undefined;
}

export interface SimulatedContainerOptions {
  readonly id: string;
  readonly clock: Clock;
  readonly behaviour: Behaviour;
  readonly log: MemoryLog;
  readonly ports: OpenedPorts | undefined;
  readonly program: Program;
  readonly usage: Usage;
  readonly probePorts: (probe: V1Probe) => number | undefined;
  /** `terminationMessagePolicy` */
  readonly messagePolicy: string | undefined;
  exec(request: ExecRequest): Promise<ExecSession>;
  /** What a program that runs makes of a signal. */
  signal(name: string): Promise<SignalFate>;
  /** Ends whatever runs for it elsewhere. */
  close(): void;
}

const SIGKILL = 9;
const EXIT_SIGKILL = 137;
/** As a shell that cannot run what it was given. */
const EXIT_FAULT = 126;

const reasonOf = (exitCode: number): string => (exitCode === 0 ? 'Completed' : 'Error');

/** A container that costs an object and its timers. */
export class SimulatedContainer implements RunningContainer {
  readonly id: string;
  readonly log: MemoryLog;
  readonly #options: SimulatedContainerOptions;
  readonly #startedMs: number;
  #timers: Disposable[] | undefined;
  #logTimer: Disposable | undefined;
  #killTimer: Disposable | undefined;
  #killAtMs = Number.POSITIVE_INFINITY;
  #isStopping = false;
  #exit: ContainerExit | undefined;
  #listeners: ((exit: ContainerExit) => void)[] = [];
  #sessions: Set<ExecSession> | undefined;

  constructor(options: SimulatedContainerOptions) {
    this.id = options.id;
    this.#options = options;
    this.log = options.log;
    this.#startedMs = options.clock.monotonicMs();
    this.#begin();
  }

  get #clock(): Clock {
    return this.#options.clock;
  }

  get #ageMs(): number {
    return this.#clock.monotonicMs() - this.#startedMs;
  }

  /** Whatever ran for it elsewhere has ended, and not on its own. */
  fault(exit: ContainerExit): void {
    this.#end(exit);
  }

  onExit(listener: (exit: ContainerExit) => void): void {
    const exit = this.#exit;
    if (exit) queueMicrotask(() => listener(exit));
    else this.#listeners.push(listener);
  }

  stop(graceMs: number): void {
    if (this.#exit) return;
    const killAtMs = this.#clock.monotonicMs() + graceMs;
    if (killAtMs < this.#killAtMs) {
      this.#killAtMs = killAtMs;
      this.#killTimer?.dispose();
      this.#killTimer = this.#clock.after(graceMs, () =>
        this.#end({ exitCode: EXIT_SIGKILL, signal: SIGKILL, reason: 'Error' }),
      );
    }
    if (this.#isStopping) return;
    this.#isStopping = true;
    void this.#terminate();
  }

  /** SIGTERM: a program that has an action for it ends on its own; every other container ends. */
  async #terminate(): Promise<void> {
    const { behaviour, program, signal } = this.#options;
    if (program.run) {
      const fate = await signal('TERM').catch((): SignalFate => 'default');
      if (fate !== 'default') return;
    }
    const { stopDelayMs } = behaviour;
    if (stopDelayMs !== Number.POSITIVE_INFINITY && !this.#exit)
      this.#after(stopDelayMs, () => this.#end({ exitCode: 0, reason: 'Completed' }));
  }

  async #programEnded({ code: exitCode, message }: ProgramExit): Promise<void> {
    const policy = this.#options.messagePolicy;
    const text = message === '' ? await messageFromLog(this.log, { policy, exitCode }) : message;
    this.#end({ exitCode, reason: reasonOf(exitCode), ...(text !== '' && { message: text }) });
  }

  async exec(request: ExecRequest): Promise<ExecSession> {
    if (this.#exit) throw new RuntimeError('ExecFailed', 'container is not running');
    return this.#track(await this.#options.exec(request));
  }

  /** The process of a simulated container has no streams of its own: attaching shows what it logs. */
  attach(request: Omit<ExecRequest, 'command'>): Promise<ExecSession> {
    if (this.#exit) return Promise.reject(new RuntimeError('ExecFailed', 'container is not running'));
    const { log } = this;
    let position = log.from(0).next;
    const show = (): void => {
      const { lines, next } = log.from(position);
      position = next;
      const end = request.tty ? '\r\n' : '\n';
      for (const line of lines)
        (line.stream === 'stderr' ? (request.stderr ?? request.stdout) : request.stdout)?.write(
          line.text + end,
        );
    };
    const following = log.onChange(show);
    let finish: (code: number) => void = () => undefined;
    const exitCode = new Promise<number>((resolve) => (finish = resolve)).finally(() => following.dispose());
    this.onExit((exit) => finish(exit.exitCode));
    return Promise.resolve(this.#track({ exitCode, resize: () => undefined, kill: () => finish(0) }));
  }

  /** It uses what its annotations say, whatever it is given. */
  resize(): Promise<void> {
    return Promise.resolve();
  }

  run(request: CommandRequest): Promise<CommandResult> {
    return runThroughExec(this, request, this.#clock);
  }

  usage(): ContainerUsage {
    return this.#options.usage.read(this.#exit ? 0 : this.#ageMs);
  }

  answerProbe(kind: ProbeKind, probe: V1Probe): ProbeAnswer | undefined {
    const { behaviour, ports, probePorts } = this.#options;
    const isFailing =
      (kind === 'readiness' && this.#ageMs < behaviour.notReadyMs) ||
      (kind === 'startup' && this.#ageMs < behaviour.startupMs) ||
      (kind === 'liveness' && this.#ageMs >= behaviour.unhealthyAfterMs);
    if (isFailing) {
      const http = 'HTTP probe failed with statuscode: 503';
      return { ok: false, output: probe.httpGet ? http : 'the simulated container answers no' };
    }
    if (probe.exec) return probe.exec.command?.[0] === IMPLIED_READY ? { ok: true, output: '' } : undefined;
    const port = probePorts(probe);
    // A name that no port has is the kubelet's to report.
    if (Number.isNaN(port)) return undefined;
    const goesOverTheWire = !probe.grpc && port !== undefined && ports?.bound.includes(port) === true;
    const host = probe.httpGet?.host ?? probe.tcpSocket?.host;
    return goesOverTheWire || (host !== undefined && host !== '') ? undefined : { ok: true, output: '' };
  }

  #begin(): void {
    const { behaviour, program } = this.#options;
    for (const mistake of behaviour.mistakes) this.log.line(mistake, 'stderr');
    for (const port of this.#options.ports?.unbound ?? [])
      this.log.line(
        `port ${port} is reserved by this machine: it answers inside the cluster process only`,
        'stderr',
      );
    this.#writeLogs();
    if (program.exit) {
      const { afterMs, code, reason } = program.exit;
      this.#after(afterMs, () => this.#end({ exitCode: code, reason: reason ?? reasonOf(code) }));
    } else if (program.run)
      void program.run().then(
        (exit) => this.#programEnded(exit),
        (error: unknown) => this.#end({ exitCode: EXIT_FAULT, reason: 'Error', message: messageOf(error) }),
      );
  }

  #writeLogs(): void {
    const { logLines, logIntervalMs } = this.#options.behaviour;
    if (logLines.length === 0) return;
    if (logIntervalMs === undefined) {
      for (const line of logLines) this.log.line(line);
      return;
    }
    let index = 0;
    const next = (): void => {
      if (this.#exit) return;
      this.log.line(logLines[index % logLines.length]!);
      index += 1;
      this.#logTimer = this.#clock.after(logIntervalMs, next);
    };
    next();
  }

  /** Timers that end with the container. */
  #after(delayMs: number, run: () => void): void {
    (this.#timers ??= []).push(this.#clock.after(delayMs, run));
  }

  #track(session: ExecSession): ExecSession {
    const sessions = (this.#sessions ??= new Set());
    sessions.add(session);
    void session.exitCode.then(
      () => sessions.delete(session),
      () => sessions.delete(session),
    );
    return session;
  }

  #end(exit: ContainerExit): void {
    if (this.#exit) return;
    this.#exit = exit;
    for (const timer of this.#timers ?? []) timer.dispose();
    this.#logTimer?.dispose();
    this.#killTimer?.dispose();
    for (const session of this.#sessions ?? []) session.kill();
    this.#options.close();
    const listeners = this.#listeners;
    this.#listeners = [];
    queueMicrotask(() => {
      for (const listener of listeners) listener(exit);
    });
  }
}

/** The command of the readiness probe that `not-ready` implies. */
export const IMPLIED_READY = 'pilothouse-simulated-ready';
