/** `npm test`: every layer but the benches, on a fresh machine, in one command. */
import { availableParallelism } from 'node:os';
import { bootstrap } from './bootstrap.mjs';
import { runChecks } from './checks.mjs';
import { resolveElectron } from './electron.mjs';
import { runMain } from './progress.mjs';
import { CONTAINER_PACKAGES, ELECTRON_LIBRARIES, ensureSystemPackages } from './system-packages.mjs';
import { runVitest, runVitestTwice } from './vitest.mjs';

const log = (line) => process.stdout.write(`${line}\n`);

const electronForTests = async () => {
  const electron = await resolveElectron({ forTests: true, log });
  return 'missing' in electron
    ? { missing: electron.missing }
    : { env: { PILOTHOUSE_TEST_ELECTRON: electron.executable } };
};

/** How many files run side by side: one per core, and `extra` more. */
const workers = (extra) => [`--maxWorkers=${availableParallelism() + extra}`];

/** Real containers and their networks, in a layer of their own: what they need cannot be installed everywhere. */
const CONTAINER_TESTS = 'test/integration/cri-';

/**
 * In the order they are run: what fails fast comes first. `isBeside`: starts with the layer that follows it and runs
 * beside it and later ones, which leave it time. Its output is printed when it has ended.
 */
const LAYERS = [
  {
    name: 'checks',
    isBeside: true,
    run: async () => ({ ...(await runChecks({ inBackground: true })), skipped: 0 }),
  },
  { name: 'unit', run: () => runVitest({ project: ['unit', 'renderer'] }) },
  {
    name: 'containers',
    // It waits for a runtime most of the time, the simulation never waits.
    isBeside: true,
    packages: CONTAINER_PACKAGES,
    run: () => runVitestTwice({ project: ['integration'], files: [CONTAINER_TESTS], capture: true }),
  },
  { name: 'transcripts and simulation', run: () => runVitest({ project: ['sim'] }) },
  {
    name: 'integration',
    packages: ['bind9-dnsutils', 'rpm'],
    run: () => runVitestTwice({ project: ['integration'], flags: [`--exclude=${CONTAINER_TESTS}*`] }),
  },
  {
    name: 'clients',
    packages: ['etcd-client', 'etcd-server'],
    // Its files wait more than they work (for leases to expire, for faults to end): two of them fill a core.
    run: () => runVitestTwice({ project: ['clients'], flags: workers(2) }),
  },
  {
    name: 'security',
    packages: ['etcd-client'],
    run: () => runVitestTwice({ project: ['security'], flags: workers(1) }),
  },
  {
    name: 'e2e in Chromium',
    packages: ['chromium', 'fonts-dejavu-core'],
    run: () => runVitestTwice({ project: ['e2e'], files: ['test/e2e/browser'] }),
  },
  {
    name: 'e2e in Electron',
    // A snapshot of a real etcd is opened in the app.
    packages: [...ELECTRON_LIBRARIES, 'etcd-client', 'etcd-server'],
    prepare: electronForTests,
    run: (env) => runVitestTwice({ project: ['e2e'], files: ['test/e2e/desktop', 'test/e2e/packaged'], env }),
  },
];

const runLayer = async (layer) => {
  const missing = await ensureSystemPackages(layer.packages ?? []);
  if (missing.length > 0) return { skippedWhy: `missing ${missing.join(', ')}` };
  const prepared = (await layer.prepare?.()) ?? {};
  if (prepared.missing) return { skippedWhy: prepared.missing };
  return layer.run(prepared.env);
};

await runMain(async () => {
  await bootstrap();
  const wanted = process.argv.slice(2);
  const layers =
    wanted.length === 0 ? LAYERS : LAYERS.filter((layer) => wanted.some((word) => layer.name.includes(word)));
  const total = { passed: 0, failed: 0, skipped: 0 };
  const lines = [];
  const unsteady = [];
  const broken = [];
  const runAndCount = async (layer) => {
    const startedAt = Date.now();
    const result = await runLayer(layer);
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(0);
    if (result.output) log(`\n== ${layer.name}, which ran beside the others\n${result.output.trimEnd()}`);
    if (result.skippedWhy) {
      total.skipped += 1;
      lines.push(`${layer.name}: skipped, ${result.skippedWhy}`);
      return;
    }
    for (const key of ['passed', 'failed', 'skipped']) total[key] += result[key];
    unsteady.push(...(result.unsteady ?? []));
    broken.push(...(result.broken ?? []));
    lines.push(
      `${layer.name}: ${result.passed} passed, ${result.failed} failed, ${result.skipped} skipped in ${seconds} s`,
    );
  };
  const beside = [];
  for (const layer of layers) {
    if (layer.isBeside) {
      beside.push(runAndCount(layer));
    } else {
      log(`\n== ${layer.name}`);
      await runAndCount(layer);
    }
  }
  await Promise.all(beside);
  log(`\n${lines.join('\n')}\n`);
  for (const claim of unsteady) log(`unsteady, passed at the second attempt: ${claim}`);
  for (const claim of broken) log(`failed: ${claim}`);
  log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  return total.failed === 0 && total.passed > 0 ? 0 : 1;
});
