import { open } from 'node:fs/promises';
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import type { V1Container, V1Pod } from '../../../api/schema/index.ts';
import { FileLog } from '../file-log.ts';
import { MESSAGE_BYTES_MAX, messageFromLog } from '../termination-message.ts';
import {
  RuntimeError,
  type CommandRequest,
  type CommandResult,
  type ContainerExit,
  type ExecRequest,
  type ExecSession,
  type RunningContainer,
} from '../runtime.ts';
import { CriError, type CriClient } from './cri-client.ts';
import { linuxResources, MESSAGE_FILE_ANNOTATION, MESSAGE_POLICY_ANNOTATION } from './container-config.ts';
import type { ContainerStatus } from './messages.ts';
import { openCommand } from './streams.ts';

const STOP_RETRY_MS = 1_000;

export interface CriContainerOptions {
  readonly client: CriClient;
  readonly clock: Clock;
  readonly runtimeName: string;
  readonly id: string;
  readonly logFile: string;
  readonly memoryCapacityBytes: number;
  /** Asks the runtime soon what has become of its containers. */
  look(): void;
}

const readHead = async (path: string, bytesMax: number): Promise<string> => {
  const file = await open(path, 'r').catch(() => undefined);
  if (!file) return '';
  try {
    const buffer = Buffer.alloc(bytesMax);
    const { bytesRead } = await file.read(buffer, 0, bytesMax, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
};

const streamsOf = ({ tty, stdin, stdout, stderr }: Omit<ExecRequest, 'command'>) => ({
  tty,
  stdin: stdin !== undefined,
  stdout: stdout !== undefined,
  stderr: stderr !== undefined && !tty,
});

const execFailed = (error: unknown): RuntimeError =>
  new RuntimeError('ExecFailed', messageOf(error), { cause: error });

/** A container of a real runtime, from its start to its exit, which the relisting of the runtime finds. */
export class CriContainer implements RunningContainer {
  readonly id: string;
  readonly criId: string;
  readonly logFile: string;
  readonly log: FileLog;
  readonly #options: CriContainerOptions;
  #listeners: ((exit: ContainerExit) => void)[] = [];
  #exit: ContainerExit | undefined;
  #isStopped = false;

  constructor(options: CriContainerOptions) {
    this.#options = options;
    this.criId = options.id;
    this.logFile = options.logFile;
    this.id = `${options.runtimeName}://${options.id}`;
    this.log = new FileLog(options.logFile, options.clock);
  }

  get hasExited(): boolean {
    return this.#exit !== undefined;
  }

  /** The kubelet has asked for its end. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** What the runtime says of its end, with the message that the container has left. */
  async ended(status: ContainerStatus): Promise<ContainerExit & { readonly finishedMs: number }> {
    const message = await this.#message(status);
    const { exitCode } = status;
    return {
      exitCode,
      reason: status.reason !== '' ? status.reason : exitCode === 0 ? 'Completed' : 'Error',
      finishedMs: status.finishedMs,
      ...(message !== '' && { message }),
    };
  }

  exited(exit: ContainerExit): void {
    if (this.#exit) return;
    this.#exit = exit;
    this.log.close();
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener(exit);
  }

  onExit(listener: (exit: ContainerExit) => void): void {
    const exit = this.#exit;
    if (exit) queueMicrotask(() => listener(exit));
    else this.#listeners.push(listener);
  }

  stop(graceMs: number): void {
    if (this.#exit) return;
    this.#isStopped = true;
    void this.#stopBy(this.#options.clock.monotonicMs() + graceMs);
  }

  /** A runtime that is away, or ends meanwhile, is asked again: its container still runs. */
  async #stopBy(deadlineMs: number): Promise<void> {
    const { client, clock, look } = this.#options;
    const graceSeconds = Math.max(0, Math.ceil((deadlineMs - clock.monotonicMs()) / 1000));
    try {
      await client.stopContainer(this.criId, graceSeconds);
    } catch {
      if (client.isClosed) return;
      clock.after(STOP_RETRY_MS, () => {
        if (!this.#exit) void this.#stopBy(deadlineMs);
      });
    }
    look();
  }

  async resize(pod: V1Pod, container: V1Container): Promise<void> {
    const { client, memoryCapacityBytes } = this.#options;
    await client.updateResources(this.criId, linuxResources(pod, container, memoryCapacityBytes));
  }

  async exec(request: ExecRequest): Promise<ExecSession> {
    const { client } = this.#options;
    try {
      return await openCommand(
        await client.execUrl(this.criId, request.command, streamsOf(request)),
        request,
      );
    } catch (error) {
      throw execFailed(error);
    }
  }

  async attach(request: Omit<ExecRequest, 'command'>): Promise<ExecSession> {
    const { client } = this.#options;
    try {
      return await openCommand(await client.attachUrl(this.criId, streamsOf(request)), request);
    } catch (error) {
      throw execFailed(error);
    }
  }

  async run({ command, timeoutMs, outputBytesMax }: CommandRequest): Promise<CommandResult> {
    const seconds = Math.max(1, Math.ceil(timeoutMs / 1000));
    try {
      const { exitCode, output } = await this.#options.client.execSync(this.criId, command, seconds);
      return { exitCode, output: output.subarray(0, outputBytesMax).toString() };
    } catch (error) {
      if (error instanceof CriError && error.reason === 'Timeout') return { exitCode: undefined, output: '' };
      throw execFailed(error);
    }
  }

  async #message({ annotations, exitCode, message }: ContainerStatus): Promise<string> {
    const file = annotations.get(MESSAGE_FILE_ANNOTATION);
    const left = file === undefined || file === '' ? '' : await readHead(file, MESSAGE_BYTES_MAX);
    if (left !== '') return left;
    const policy = annotations.get(MESSAGE_POLICY_ANNOTATION);
    const tail = await messageFromLog(this.log, { policy, exitCode });
    return tail === '' ? message : tail;
  }
}
