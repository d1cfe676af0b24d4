/** Builds what is run: the console's pages, the Electron main process with its preload, the command line. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BUILD_STAMP, ensureDependencies } from './bootstrap.mjs';
import { DIST, ROOT } from './paths.mjs';
import { runMain, step } from './progress.mjs';
import { run } from './run.mjs';
import { bundledPackages } from './sbom/bundled-packages.mjs';
import { writeBuildDocuments } from './sbom/write.mjs';

/** Left out of bundles: Electron gives itself, lmdb has a native part, the rest are optional parts of ws. */
const EXTERNAL = ['electron', 'lmdb', 'bufferutil', 'utf-8-validate', /^node:/];

const CHROME_TARGET = 'chrome140';
const NODE_TARGET = 'node20.19';

/** One program for Node. Dependencies are bundled: one file opens faster than a thousand. */
export const nodeProgram = ({
  entry,
  outDir,
  fileName,
  format = 'es',
  target = NODE_TARGET,
  external = [],
  sourcemap = true,
}) => ({
  root: ROOT,
  configFile: false,
  logLevel: 'warn',
  ssr: { noExternal: true, target: 'node' },
  build: {
    ssr: true,
    target,
    outDir: join(DIST, outDir),
    emptyOutDir: true,
    minify: false,
    sourcemap,
    reportCompressedSize: false,
    rolldownOptions: {
      input: join(ROOT, entry),
      external: [...EXTERNAL, ...external],
      output: {
        format,
        entryFileNames: fileName,
        chunkFileNames: '[name]-[hash].js',
        // Comments and blanks are a quarter of what a start has to parse; names stay for stack traces.
        minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
      },
    },
  },
});

/** CommonJS, whose loader lets compiled code be kept; the folder's own package.json says so. */
const commonJsProgram = ({ entry, outDir, fileName }) => {
  const program = nodeProgram({ entry, outDir, fileName, format: 'cjs' });
  const marksCommonJs = {
    name: 'marks-commonjs',
    generateBundle() {
      this.emitFile({
        type: 'asset',
        fileName: 'package.json',
        source: `${JSON.stringify({ type: 'commonjs' })}\n`,
      });
    },
  };
  return { ...program, plugins: [marksCommonJs] };
};

export const hostProgram = () =>
  commonJsProgram({ entry: 'core/cluster/host/program.ts', outDir: 'host', fileName: 'host.js' });

const programs = () => [
  nodeProgram({ entry: 'main/app/main.ts', outDir: 'main', fileName: 'main.js' }),
  nodeProgram({
    entry: 'main/preload/preload.ts',
    outDir: 'preload',
    fileName: 'preload.cjs',
    format: 'cjs',
    target: CHROME_TARGET,
  }),
  commonJsProgram({ entry: 'main/cli/cli.ts', outDir: 'cli', fileName: 'cli.js' }),
  hostProgram(),
];

/**
 * What the hosts run, compiled for this Node, so that the first start need not. Another platform's or Electron's V8 does not
 * look at it, and where it cannot be made the first start makes it.
 */
const compileHost = () => run(process.execPath, [join(DIST, 'host/host.js'), '--compile'], { capture: true });

export const build = async () => {
  const startedAt = new Date();
  const vite = await import('vite');
  const bundled = bundledPackages();
  await vite.build({
    configFile: join(ROOT, 'renderer/vite.config.ts'),
    root: join(ROOT, 'renderer'),
    logLevel: 'warn',
    plugins: [bundled.plugin],
    worker: { plugins: () => [bundled.plugin] },
  });
  for (const program of programs())
    await vite.build({ ...program, plugins: [...(program.plugins ?? []), bundled.plugin] });
  await writeBuildDocuments(bundled.names());
  await compileHost();
  mkdirSync(dirname(BUILD_STAMP), { recursive: true });
  writeFileSync(BUILD_STAMP, startedAt.toISOString());
  // The stamp tells when the sources were read, not when the last file was written.
  const { utimesSync } = await import('node:fs');
  utimesSync(BUILD_STAMP, startedAt, startedAt);
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  await runMain(async () => {
    await ensureDependencies();
    await step('Building', build);
  });
