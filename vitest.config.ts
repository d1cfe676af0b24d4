import { availableParallelism } from 'node:os';
import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const SECOND = 1000;
const MODULE_CACHE = 'node_modules/.cache/vitest';

/** Of layers of real processes: for what hangs, not for what a busy machine makes slow. */
const PATIENCE = { testTimeout: 600 * SECOND, hookTimeout: 600 * SECOND };

/** Of `expect.poll`, whose second by default is less than a busy machine may need for one turn. */
const EXPECT = { poll: { timeout: 120 * SECOND } };

/** Seeded tests that stand beside their source but take seconds: run by `npm test`, not by `npm run check`. */
const SEEDED_BESIDE_SOURCE = ['core/**/*.sim.test.ts'];

/** Minutes, most of them waiting: last in the queue they would be waited for alone. */
const LONG = [
  'clients/cluster-chaos',
  'clients/cluster-members',
  'clients/managers-election',
  'clients/cluster-upgrade',
  'clients/managers-kill',
  'integration/cluster-up',
  'integration/etcd-kill',
  'e2e/browser-workloads',
  'e2e/desktop-operations',
  'e2e/desktop-clusters',
];

/** Long files first, then as always: by what the last run took, or by size. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = LONG.findIndex((name) => moduleId.endsWith(`test/${name}.test.ts`));
      return found < 0 ? LONG.length : found;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

/** One project a test layer; `npm test` runs them one after the other and counts each. */
export default defineConfig({
  test: {
    // Files have addresses, folders and ports of their own, and part of their time is waiting.
    maxWorkers: availableParallelism(),
    sequence: { sequencer: LongFirst },
    // Of one layer what of the next: each is a run of its own, and most read the same sources.
    experimental: { fsModuleCache: true, fsModuleCachePath: MODULE_CACHE },
    projects: [
      {
        test: {
          name: 'unit',
          expect: EXPECT,
          include: ['core/**/*.test.ts', 'main/**/*.test.ts', 'test/*.test.ts'],
          exclude: SEEDED_BESIDE_SOURCE,
          // A process a file costs more than the tests in it; a test cleans up after itself instead.
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
          environment: 'happy-dom',
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
          name: 'e2e',
          expect: EXPECT,
          include: ['test/e2e/**/*.test.ts'],
          ...PATIENCE,
        },
      },
    ],
  },
});
