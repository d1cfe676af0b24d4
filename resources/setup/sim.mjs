/** `npm run sim -- --seeds N [--from K]`: builds the simulation of test/sim and runs many seeds of it. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootstrap } from './bootstrap.mjs';
import { nodeProgram } from './build.mjs';
import { ROOT } from './paths.mjs';
import { runMain } from './progress.mjs';

await runMain(async () => {
  await bootstrap();
  const { build } = await import('vite');
  await build(nodeProgram({ entry: 'test/sim/main.ts', outDir: 'sim', fileName: 'sim.js' }));
  const { run } = await import(pathToFileURL(join(ROOT, 'dist/sim/sim.js')).href);
  process.exitCode = await run(process.argv.slice(2));
});
