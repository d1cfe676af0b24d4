#!/usr/bin/env node
/** The `pilothouse` command of a clone: makes itself ready, then is the built command line. */
import { join } from 'node:path';
import { bootstrap } from './bootstrap.mjs';
import { DIST } from './paths.mjs';
import { runMain } from './progress.mjs';
import { becomeProgram } from './run.mjs';
import { startDesktop } from './start.mjs';

await runMain(async () => {
  await bootstrap();
  const args = process.argv.slice(2);
  const opensWindow =
    args.length === 0 || (args[0]?.startsWith('-') && !['-h', '--help', '--version'].includes(args[0]));
  if (opensWindow) return startDesktop(args);
  return becomeProgram(join(DIST, 'cli/cli.js'), args);
});
