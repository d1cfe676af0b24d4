import type { Clock } from '../../../base/clock.ts';
import type { ContainerLog } from '../container-log.ts';
import type { ContainerRequest } from '../runtime.ts';
import type { Behaviour } from './behaviour.ts';
import { Shell } from './shell/interpreter.ts';
import { noInput } from './shell/pipe.ts';
import type { ShellHost } from './shell/process.ts';
import { understands } from './shell/understands.ts';
import type { Program } from './simulated-container.ts';
import { isOutOfMemory } from './usage.ts';
import { expandReferences } from '../../volumes/environment.ts';

/** How long a task takes of which nothing is known: an init container, a job. */
export const TASK_MS_DEFAULT = 1_000;
const OUT_OF_MEMORY_AFTER_MS = 1_000;
const EXIT_OUT_OF_MEMORY = 137;

export interface ProgramOptions {
  readonly request: ContainerRequest;
  readonly behaviour: Behaviour;
  readonly clock: Clock;
  host(): Promise<ShellHost>;
}

/** `command` and `args` with their references filled in. */
export const commandLine = ({ container, environment }: ContainerRequest): string[] =>
  [...(container.command ?? []), ...(container.args ?? [])].map((word) =>
    expandReferences(word, environment),
  );

/**
 * What the container does: what its annotations say; else its command, when the simulated shell knows every word of
 * it; else a server that runs for ever, or a task that succeeds after a second where the pod waits for an end.
 */
export const programOf = (options: ProgramOptions): Program => {
  const { request, behaviour } = options;
  if (isOutOfMemory(request.container, behaviour))
    return { exit: { afterMs: OUT_OF_MEMORY_AFTER_MS, code: EXIT_OUT_OF_MEMORY, reason: 'OOMKilled' } };
  if (behaviour.exit) return { exit: behaviour.exit };
  const argv = commandLine(request);
  if (argv.length > 0 && understands(argv)) {
    return {
      exit: undefined,
      async run(signal: AbortSignal, log: ContainerLog) {
        const shell = new Shell({ host: await options.host(), environment: request.environment, signal });
        return shell.runCommand(argv, {
          input: noInput,
          out: (text) => log.write(text),
          err: (text) => log.write(text, 'stderr'),
        });
      },
    };
  }
  const { kind, pod } = request;
  const isTask = kind === 'init' || (kind === 'main' && (pod.spec?.restartPolicy ?? 'Always') !== 'Always');
  return { exit: isTask ? { afterMs: TASK_MS_DEFAULT, code: 0 } : undefined };
};
