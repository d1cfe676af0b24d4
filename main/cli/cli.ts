import { createInterface } from 'node:readline';
import type { CommandContext } from './command.ts';
import { runCommandLine } from './run.ts';

/** 128 + SIGINT, what a shell reports for a program that was interrupted. */
const EXIT_INTERRUPTED = 130;

const interrupt = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.on(name, () => {
    // Anyone who asks twice does not want to wait for a clean end.
    if (interrupt.signal.aborted) process.exit(EXIT_INTERRUPTED);
    interrupt.abort();
  });

// `pilothouse ... | head` closes the pipe early; what is left to say interests no one.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(process.exitCode ?? 0);
});

const context: CommandContext = {
  print: (line) => void process.stdout.write(`${line}\n`),
  note: (line) => void process.stderr.write(`${line}\n`),
  signal: interrupt.signal,
  env: process.env,
  cwd: process.cwd(),
  onEnter(run) {
    if (!process.stdin.isTTY) return () => undefined;
    const lines = createInterface({ input: process.stdin });
    lines.on('line', run);
    return () => lines.close();
  },
};

/** For a process that is more than this program; its exit code is set by then. Output may still be on its way through a pipe. */
export const ended: Promise<void> = runCommandLine(process.argv.slice(2), context).then((code) => {
  process.exitCode = code;
});
