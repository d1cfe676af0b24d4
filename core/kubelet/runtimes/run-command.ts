import { Writable } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import type { CommandRequest, CommandResult, RunningContainer } from './runtime.ts';

/** A command to its end through an exec session, for runtimes that have no shorter way. */
export const runThroughExec = async (
  container: Pick<RunningContainer, 'exec'>,
  { command, timeoutMs, outputBytesMax }: CommandRequest,
  clock: Clock,
): Promise<CommandResult> => {
  const chunks: Buffer[] = [];
  let size = 0;
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (size < outputBytesMax) chunks.push(chunk);
      size += chunk.length;
      done();
    },
  });
  const session = await container.exec({ command, tty: false, stdout: output, stderr: output });
  let isLate = false;
  const timer = clock.after(timeoutMs, () => {
    isLate = true;
    session.kill();
  });
  const exitCode = await session.exitCode;
  timer.dispose();
  const text = Buffer.concat(chunks).toString().slice(0, outputBytesMax);
  return { exitCode: isLate ? undefined : exitCode, output: text };
};
