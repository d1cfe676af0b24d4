import { availableParallelism } from 'node:os';
import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const SECOND = 1000;
const MODULE_CACHE = 'node_modules/.cache/vitest';

/** For layers with real processes: long enough for a busy machine, so only a hang reaches it. */
const PATIENCE = { testTimeout: 600 * SECOND, hookTimeout: 600 * SECOND };

/** For `expect.poll`: its default of one second is too short on a busy machine. */
const EXPECT = { poll: { timeout: 120 * SECOND } };

/** Seeded tests next to their source that take seconds: `npm test` runs them, `npm run check` does not. */
const SEEDED_BESIDE_SOURCE = ['core/**/*.sim.test.ts'];

/** These take minutes, mostly waiting. They start first, so that other files run in the meantime. */
const LONG = [
  'clients/cluster-chaos',
  'clients/cluster-members',
  'clients/managers-election',
  'clients/kubectl-metrics',
  'clients/cluster-upgrade',
  'clients/drills',
  'clients/managers-kill',
  'integration/apiserver-fuzz',
  'integration/cri-containerd-cluster',
  'integration/cri-join',
  'integration/cluster-up',
  'integration/etcd-kill',
  'e2e/browser-workloads',
  'e2e/desktop-operations',
  'e2e/desktop-clusters',
];

/** Long files first, then vitest's order: by the duration of the last run, or by size. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = LONG.findIndex((name) => moduleId.endsWith(`test/${name}.test.ts`));
      return found < 0 ? LONG.length : found;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

/** One project per test layer; `npm test` runs them one by one and counts each. */
export default defineConfig({
  test: {
    // Files use separate addresses, directories and ports, and spend part of their time waiting.
    maxWorkers: availableParallelism(),
    sequence: { sequencer: LongFirst },
    // Each layer is a separate run and most read the same sources, so transformed modules are shared through a cache on disk.
    experimental: { fsModuleCache: true, fsModuleCachePath: MODULE_CACHE },
    projects: [
      {
        test: {
          name: 'unit',
          expect: EXPECT,
          include: ['core/**/*.test.ts', 'main/**/*.test.ts', 'test/*.test.ts'],
          exclude: SEEDED_BESIDE_SOURCE,
          // A process per file would cost more than its tests; tests clean up after themselves instead.
          isolate: false,
          testTimeout: 120 * SECOND,
          hookTimeout: 120 * SECOND,
        },
      },
      {
        plugins: [vue()],
        test: {
          name: 'renderer',
          expect: EXPECT,
          include: ['renderer/**/*.test.ts'],
          isolate: false,
          testTimeout: 120 * SECOND,
          hookTimeout: 120 * SECOND,
        },
      },
      {
        test: {
          name: 'sim',
          expect: EXPECT,
          include: ['test/transcripts/**/*.test.ts', 'test/sim/**/*.test.ts', ...SEEDED_BESIDE_SOURCE],
          testTimeout: 900 * SECOND,
          hookTimeout: 120 * SECOND,
        },
      },
      {
        test: {
          name: 'integration',
          expect: EXPECT,
          include: ['test/integration/**/*.test.ts'],
          ...PATIENCE,
        },
      },
      {
        test: {
          name: 'clients',
          expect: EXPECT,
          include: ['test/clients/**/*.test.ts'],
          ...PATIENCE,
        },
      },
      {
        test: {
          name: 'security',
          expect: EXPECT,
          include: ['test/security/**/*.test.ts'],
          globalSetup: ['test/security/shared-cluster.ts'],
          ...PATIENCE,
        },
      },
      {
        test: {
          name: 'e2e',
          expect: EXPECT,
          include: ['test/e2e/**/*.test.ts'],
          ...PATIENCE,
        },
      },
    ],
  },
});
