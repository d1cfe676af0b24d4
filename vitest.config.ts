import { availableParallelism } from 'node:os';
import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vitest/config';

const SECOND = 1000;

/** Of layers of real processes: for what hangs, not for what a busy machine makes slow. */
const PATIENCE = { testTimeout: 600 * SECOND, hookTimeout: 600 * SECOND };

/** Of `expect.poll`, whose second by default is less than a busy machine may need for one turn. */
const EXPECT = { poll: { timeout: 120 * SECOND } };

/** Seeded tests that stand beside their source but take seconds: run by `npm test`, not by `npm run check`. */
const SEEDED_BESIDE_SOURCE = ['core/**/*.sim.test.ts'];

/** One project a test layer; `npm test` runs them one after the other and counts each. */
export default defineConfig({
  test: {
    // Files have addresses, folders and ports of their own, and half of their time is waiting.
    maxWorkers: availableParallelism(),
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
          fileParallelism: false,
          ...PATIENCE,
        },
      },
    ],
  },
});
