import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vitest/config';

const SECOND = 1000;

/** One project a test layer; `npm test` runs them one after the other and counts each. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['core/**/*.test.ts', 'main/**/*.test.ts', 'test/*.test.ts'],
          testTimeout: 20 * SECOND,
        },
      },
      {
        plugins: [vue()],
        test: {
          name: 'renderer',
          include: ['renderer/**/*.test.ts'],
          environment: 'happy-dom',
          testTimeout: 20 * SECOND,
        },
      },
      {
        test: {
          name: 'sim',
          include: ['test/transcripts/**/*.test.ts', 'test/sim/**/*.test.ts'],
          testTimeout: 300 * SECOND,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          testTimeout: 120 * SECOND,
          hookTimeout: 60 * SECOND,
        },
      },
      {
        test: {
          name: 'clients',
          include: ['test/clients/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 180 * SECOND,
          hookTimeout: 120 * SECOND,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 120 * SECOND,
          hookTimeout: 120 * SECOND,
        },
      },
    ],
  },
});
