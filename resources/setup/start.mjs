/** `npm start`: the desktop app where there is a display and an Electron, else the console for a browser. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootstrap } from './bootstrap.mjs';
import { resolveElectron } from './electron.mjs';
import { DIST, ROOT } from './paths.mjs';
import { runMain } from './progress.mjs';
import { becomeProgram, runAsOurselves } from './run.mjs';

/** An Electron that ends with a failure this soon never showed a window. */
const FAILED_START_MS = 10_000;

const whyNoWindow = () => {
  if (process.platform !== 'linux') return undefined;
  if (!process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) return 'there is no display';
  if (process.getuid?.() === 0) return 'Chromium keeps its sandbox on and so does not run as root';
  return undefined;
};

export const startHeadless = (args) => becomeProgram(join(DIST, 'cli/cli.js'), ['serve', ...args]);

export const startDesktop = async (args) => {
  const log = (line) => process.stderr.write(`${line}\n`);
  const headless = (reason) => {
    log(`No window: ${reason}. Serving the console to a browser instead.`);
    return startHeadless(args);
  };
  const reason = whyNoWindow();
  if (reason) return headless(reason);
  const electron = await resolveElectron({ forTests: false, log });
  if ('missing' in electron) return headless(electron.missing);
  const startedAt = Date.now();
  const code = await runAsOurselves(electron.executable, [ROOT, ...args]);
  if (code !== 0 && Date.now() - startedAt < FAILED_START_MS)
    return headless(`Electron ended with code ${code}`);
  return code;
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await runMain(async () => {
    await bootstrap();
    return startDesktop(process.argv.slice(2));
  });
