import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { messageOf } from '../../../base/errors.ts';
import { RuntimeError, type ExecRequest, type ExecSession, type TerminalSize } from '../runtime.ts';
import { COMMANDS } from './shell/commands.ts';
import { EXIT_KILLED, Shell } from './shell/interpreter.ts';
import { Pipe } from './shell/pipe.ts';
import { commandName, type ShellHost, type Streams } from './shell/process.ts';
import { Terminal } from './shell/terminal.ts';

const SHELLS = new Set(['sh', 'ash', 'bash']);
const BUILTINS = new Set(['exit', ':', 'cd', 'export', 'exec', 'command']);

/** What runc says, which is what users of a real cluster read. */
const notFound = (command: string): RuntimeError =>
  new RuntimeError(
    'ExecFailed',
    `OCI runtime exec failed: exec failed: unable to start container process: exec: "${command}": executable file not found in $PATH`,
  );

const feed = (stdin: Readable, write: (text: string) => void, end: () => void): void => {
  const decoder = new StringDecoder('utf8');
  stdin.on('data', (chunk: Buffer) => write(decoder.write(chunk)));
  stdin.once('end', end);
  stdin.once('close', end);
  stdin.on('error', end);
};

const writer = (stream: Writable | undefined): ((text: string) => void) =>
  stream ? (text) => void (stream.destroyed || stream.writableEnded || stream.write(text)) : () => undefined;

/** Runs one command in a simulated container, with or without a terminal. */
export const startExec = (
  host: ShellHost,
  environment: ReadonlyMap<string, string>,
  request: ExecRequest,
): ExecSession => {
  const [command = ''] = request.command;
  const name = commandName(command);
  if (!SHELLS.has(name) && !BUILTINS.has(name) && !COMMANDS[name]) throw notFound(command);
  const abort = new AbortController();
  const out = writer(request.stdout);
  const err = request.tty ? out : writer(request.stderr);
  const size: TerminalSize = { Width: 80, Height: 24 };
  const terminal = request.tty ? new Terminal(out, () => undefined) : undefined;
  const input = terminal?.input ?? new Pipe();
  if (request.stdin)
    feed(
      request.stdin,
      (text) => (terminal ? terminal.type(text) : writeTo(input, text)),
      () => input.end(),
    );
  else input.end();
  const streams: Streams = terminal
    ? { input, out: (text) => terminal.print(text), err: (text) => terminal.print(text) }
    : { input, out, err };
  const extended = new Map(environment);
  if (request.tty) {
    extended.set('TERM', 'xterm');
    extended.set('COLUMNS', String(size.Width));
    extended.set('LINES', String(size.Height));
  }
  const shell = new Shell({ host, environment: extended, signal: abort.signal, isTerminal: request.tty });
  const killed = new Promise<number>((resolve) =>
    abort.signal.addEventListener('abort', () => resolve(EXIT_KILLED), { once: true }),
  );
  const run = shell.runCommand(request.command, streams).catch((error: unknown) => {
    err(`${messageOf(error)}\n`);
    return 1;
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

/** Input that nobody reads ends the pipe, not the session. */
const writeTo = (pipe: Pipe, text: string): void => {
  try {
    pipe.write(text);
  } catch {
    pipe.close();
  }
};
