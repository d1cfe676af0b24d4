import type { Readable, Writable } from 'node:stream';
import { messageOf } from '../../base/errors.ts';
import type { ExecSession, RunningContainer, TerminalSize } from '../runtimes/runtime.ts';

/** What the query of an exec or attach asks for. */
export interface RemoteOptions {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** The streams of one client, over whatever protocol they came. */
export interface RemoteStreams {
  readonly stdin?: Readable;
  readonly stdout?: Writable;
  readonly stderr?: Writable;
  /** Resizes so far and from now on. */
  onResize(listener: (size: TerminalSize) => void): void;
  /** The client is gone. */
  onClose(listener: () => void): void;
  /** Says how it ended, and closes after everything was sent. */
  finish(status: RemoteStatus): void;
}

/** As it travels on the error channel. */
export interface RemoteStatus {
  readonly metadata: Record<string, never>;
  readonly status: 'Success' | 'Failure';
  readonly message?: string;
  readonly reason?: string;
  readonly details?: { readonly causes: readonly { readonly reason: string; readonly message: string }[] };
  readonly code?: number;
}

const flag = (query: URLSearchParams, ...names: readonly string[]): boolean =>
  names.some((name) => ['1', 'true'].includes(query.get(name) ?? ''));

/** Undefined when nothing was asked for. With a terminal there is no stderr of its own. */
export const remoteOptions = (query: URLSearchParams): RemoteOptions | undefined => {
  const tty = flag(query, 'tty');
  const options = {
    tty,
    stdin: flag(query, 'input', 'stdin'),
    stdout: flag(query, 'output', 'stdout'),
    stderr: flag(query, 'error', 'stderr') && !tty,
  };
  return options.stdin || options.stdout || options.stderr ? options : undefined;
};

export const exitStatus = (exitCode: number): RemoteStatus =>
  exitCode === 0
    ? { metadata: {}, status: 'Success' }
    : {
        metadata: {},
        status: 'Failure',
        message: `command terminated with non-zero exit code: command terminated with exit code ${exitCode}`,
        reason: 'NonZeroExitCode',
        details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
      };

export const failureStatus = (error: unknown): RemoteStatus => ({
  metadata: {},
  status: 'Failure',
  message: `Internal error occurred: error executing command in container: ${messageOf(error)}`,
  reason: 'InternalError',
  code: 500,
});

/** Runs a command in a container, or joins its process, until it ends or the client goes. */
export const serveRemote = async (
  container: RunningContainer,
  command: readonly string[] | undefined,
  options: RemoteOptions,
  streams: RemoteStreams,
): Promise<void> => {
  const request = {
    tty: options.tty,
    ...(streams.stdin && { stdin: streams.stdin }),
    ...(streams.stdout && { stdout: streams.stdout }),
    ...(streams.stderr && { stderr: streams.stderr }),
  };
  let session: ExecSession;
  try {
    session = await (command ? container.exec({ ...request, command }) : container.attach(request));
  } catch (error) {
    streams.finish(failureStatus(error));
    return;
  }
  streams.onResize((size) => session.resize(size));
  streams.onClose(() => session.kill());
  streams.finish(exitStatus(await session.exitCode));
};

/** Resolves when everything was handed over, or when no one takes it any more. */
export const endStream = (stream: Writable | undefined, last?: string): Promise<void> =>
  new Promise((resolve) => {
    if (!stream || stream.destroyed || stream.writableEnded) return resolve();
    stream.once('close', resolve);
    stream.once('error', () => resolve());
    if (last === undefined || last === '') stream.end(() => resolve());
    else stream.end(last, () => resolve());
  });
