import type { Log } from '../../core/base/log.ts';

/** EX_SOFTWARE of sysexits: a defect of ours, told apart from a crash of Chromium. */
export const EXIT_DEFECT = 70;

/**
 * A defect no one caught leaves its stack in the log file and ends the app with a code: no dialog, which would
 * wait for a person on a machine where no one looks, and no continuing with state that cannot be trusted.
 */
export const installLastWords = (log: Log, exit: (code: number) => void): void => {
  const end = (kind: string) => (error: unknown) => {
    const stack = error instanceof Error ? error.stack : undefined;
    log.write('error', kind, { error, stack });
    process.stderr.write(`pilothouse: ${kind}: ${stack ?? String(error)}\n`);
    exit(EXIT_DEFECT);
  };
  process.on('uncaughtException', end('uncaught exception'));
  process.on('unhandledRejection', end('unhandled rejection'));
};
