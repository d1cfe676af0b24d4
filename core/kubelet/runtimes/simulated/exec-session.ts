import type { Readable, Writable } from 'node:stream';
import { messageOf } from '../../../base/errors.ts';
import { RuntimeError, type ExecRequest, type ExecSession, type TerminalSize } from '../runtime.ts';
import { commandNamed } from './shell/commands.ts';
import { EXIT_KILLED, Shell } from './shell/interpreter.ts';
import { Pipe } from './shell/pipe.ts';
import { commandName, type ShellHost, type Streams } from './shell/process.ts';
import { Terminal } from './shell/terminal.ts';
import { bytesOf, TextOfChunks } from './shell/text-bytes.ts';

const SHELLS = new Set(['sh', 'ash', 'bash']);
const BUILTINS = new Set(['exit', ':', 'cd', 'export', 'exec', 'command']);

/** What runc says, which is what users of a real cluster read. */
const notFound = (command: string): RuntimeError =>
  new RuntimeError(
    'ExecFailed',
    `OCI runtime exec failed: exec failed: unable to start container process: exec: "${command}": executable file not found in $PATH`,
  );

/** Reads no faster than the command does. */
const feed = (stdin: Readable, write: (text: string) => void, input: Pipe): void => {
  const decoder = new TextOfChunks();
  const end = (): void => {
    const rest = decoder.end();
    if (rest !== '') write(rest);
    input.end();
  };
  stdin.on('data', (chunk: Buffer) => {
    write(decoder.write(chunk));
    const room = input.ready();
    if (!room) return;
    stdin.pause();
    void room.then(() => stdin.resume());
  });
  stdin.once('end', end);
  stdin.once('close', end);
  stdin.on('error', end);
};

const writer = (stream: Writable | undefined): ((text: string) => void) =>
  stream
    ? (text) => void (stream.destroyed || stream.writableEnded || stream.write(bytesOf(text)))
    : () => undefined;

/** Undefined when the client takes more output. */
const drained = (stream: Writable | undefined): Promise<void> | undefined => {
  if (!stream?.writableNeedDrain || stream.destroyed) return undefined;
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done);
      stream.off('close', done);
      resolve();
    };
    stream.on('drain', done);
    stream.on('close', done);
  });
};

/** Runs one command in a simulated container, with or without a terminal. */
export const startExec = (
  host: ShellHost,
  environment: ReadonlyMap<string, string>,
  request: ExecRequest,
  cwd?: string,
): ExecSession => {
  const [command = ''] = request.command;
  const name = commandName(command);
  if (!SHELLS.has(name) && !BUILTINS.has(name) && !commandNamed(name)) throw notFound(command);
  const abort = new AbortController();
  const out = writer(request.stdout);
  const err = request.tty ? out : writer(request.stderr);
  const size: TerminalSize = { Width: 80, Height: 24 };
  const input = new Pipe(host.budget);
  const terminal = request.tty ? new Terminal(out, () => undefined, input) : undefined;
  if (request.stdin)
    feed(
      request.stdin,
      (text) => writeTo(input, () => (terminal ? terminal.type(text) : input.write(text))),
      input,
    );
  else input.end();
  const ready = (): Promise<void> | undefined => drained(request.stdout) ?? drained(request.stderr);
  const streams: Streams = terminal
    ? { input, ready, out: (text) => terminal.print(text), err: (text) => terminal.print(text) }
    : { input, ready, out, err };
  const extended = new Map(environment);
  if (request.tty) {
    extended.set('TERM', 'xterm');
    extended.set('COLUMNS', String(size.Width));
    extended.set('LINES', String(size.Height));
  }
  const shell = new Shell({
    host,
    environment: extended,
    signal: abort.signal,
    isTerminal: request.tty,
    ...(cwd !== undefined && { cwd }),
  });
  const killed = new Promise<number>((resolve) =>
    abort.signal.addEventListener('abort', () => resolve(EXIT_KILLED), { once: true }),
  );
  const run = shell
    .runCommand(request.command, streams)
    .catch((error: unknown) => {
      err(`${messageOf(error)}\n`);
      return 1;
    })
    .finally(() => {
      input.close();
      shell.dispose();
    });
  return {
    exitCode: Promise.race([run, killed]),
    resize(next) {
      extended.set('COLUMNS', String(next.Width));
      extended.set('LINES', String(next.Height));
    },
    kill() {
      input.end();
      abort.abort();
    },
  };
};

/** Input that no one reads ends the pipe, not the session. */
const writeTo = (pipe: Pipe, write: () => void): void => {
  try {
    write();
  } catch {
    pipe.close();
  }
};
