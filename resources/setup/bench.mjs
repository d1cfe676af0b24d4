/** `npm run bench -- <area>`: builds one bench of test/bench and runs it; without an area it lists them. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootstrap } from './bootstrap.mjs';
import { nodeProgram } from './build.mjs';
import { ROOT } from './paths.mjs';
import { runMain, SetupError } from './progress.mjs';

const BENCHES = join(ROOT, 'test/bench');

/** A bench is a file of test/bench that exports `run(args)`. */
const areas = () =>
  readdirSync(BENCHES)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => name.slice(0, -'.ts'.length));

await runMain(async () => {
  const [area, ...args] = process.argv.slice(2);
  if (!area || !existsSync(join(BENCHES, `${area}.ts`)))
    throw new SetupError(`say which bench to run: npm run bench -- ${areas().join(' | ')}`);
  await bootstrap();
  const { build } = await import('vite');
  const outDir = `bench/${area}`;
  await build(
    nodeProgram({
      entry: `test/bench/${area}.ts`,
      outDir,
      fileName: 'bench.js',
      external: ['playwright-core', /^@grpc\//],
    }),
  );
  const { run } = await import(pathToFileURL(join(ROOT, 'dist', outDir, 'bench.js')).href);
  await run(args);
});
