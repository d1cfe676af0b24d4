/** `npm run check`: format, types, lint, unit tests and tidiness, in under a minute. */
import { availableParallelism } from 'node:os';
import { ensureDependencies } from './bootstrap.mjs';
import { reportCheck, runChecks } from './checks.mjs';
import { runMain } from './progress.mjs';
import { runVitest } from './vitest.mjs';

const CHECKS_BESIDE_TESTS_MAX = 4;

const runUnitTests = async () => {
  const startedAt = Date.now();
  const { passed, failed, output } = await runVitest({ project: ['unit', 'renderer'], capture: true });
  reportCheck({ name: 'unit tests', startedAt, ok: failed === 0, output, detail: `, ${passed} passed` });
  return { failed };
};

await runMain(async () => {
  await ensureDependencies();
  // The tests keep one core busy for about as long as all the others take together.
  const atOnce = Math.max(1, Math.min(availableParallelism() - 1, CHECKS_BESIDE_TESTS_MAX));
  const [unit, checks] = await Promise.all([runUnitTests(), runChecks({ atOnce })]);
  return checks.failed + unit.failed === 0 ? 0 : 1;
});
