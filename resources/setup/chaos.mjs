/** `npm run chaos -- --minutes N [--seed S]`: a real cluster under random faults, checked by its clients. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootstrap } from './bootstrap.mjs';
import { nodeProgram } from './build.mjs';
import { ROOT } from './paths.mjs';
import { runMain } from './progress.mjs';

await runMain(async () => {
  await bootstrap();
  const { build } = await import('vite');
  await build(nodeProgram({ entry: 'test/chaos/main.ts', outDir: 'chaos', fileName: 'chaos.js' }));
  const { run } = await import(pathToFileURL(join(ROOT, 'dist/chaos/chaos.js')).href);
  process.exitCode = await run(process.argv.slice(2));
});
