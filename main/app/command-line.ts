import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { App } from 'electron';
import { messageOf } from '../../core/base/errors.ts';

/** The first argument that `bin/pilothouse` of an installed app passes for a command. */
const SWITCH = '--command-line';
/** What follows is no switch of Chromium, whatever it looks like. */
const SEPARATOR = '--';
const EXIT_FAILURE = 1;

/** What the built command line, a CommonJS module, exports. */
interface CommandLineProgram {
  readonly ended: Promise<void>;
}

/** The words of a command of the installed app, or undefined for a start of the desktop. */
export const commandLineOf = (argv: readonly string[]): readonly string[] | undefined => {
  if (argv[1] !== SWITCH) return undefined;
  const separator = argv.indexOf(SEPARATOR);
  return separator === -1 ? [] : argv.slice(separator + 1);
};

/**
 * Runs the built command line in this process: an installed app brings no other Node, and its binary refuses to run as
 * one. No page is loaded. Chromium's profile is a temporary folder, because the desktop may be using the usual one.
 */
export const runCommandLineIn = (app: App, words: readonly string[]): void => {
  const profile = mkdtempSync(join(tmpdir(), 'pilothouse-cli-'));
  app.setPath('userData', profile);
  app.disableHardwareAcceleration();
  // Electron quits on SIGTERM and SIGINT unless stopped; a command ends when it has closed what it opened.
  app.on('will-quit', (event) => event.preventDefault());
  const exit = (code: number): void => {
    rmSync(profile, { recursive: true, force: true });
    app.exit(code);
  };
  const run = async (): Promise<void> => {
    const program = join(app.getAppPath(), 'dist/cli/cli.js');
    process.argv = [process.execPath, program, ...words];
    const { default: loaded } = (await import(pathToFileURL(program).href)) as {
      default: CommandLineProgram;
    };
    await loaded.ended;
  };
  // Not awaited: Electron is ready only once its main module has been evaluated.
  void app
    .whenReady()
    .then(run)
    .then(
      () => exit(Number(process.exitCode ?? 0)),
      (error: unknown) => {
        process.stderr.write(`pilothouse: ${messageOf(error)}\n`);
        exit(EXIT_FAILURE);
      },
    );
};
