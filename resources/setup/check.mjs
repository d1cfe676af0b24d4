/** `npm run check`: format, types, lint, unit tests and tidiness, in under a minute. */
import { ensureDependencies } from './bootstrap.mjs';
import { runChecks } from './checks.mjs';
import { runMain } from './progress.mjs';
import { runVitest } from './vitest.mjs';

await runMain(async () => {
  await ensureDependencies();
  const checks = await runChecks();
  const unit = await runVitest({ project: ['unit', 'renderer'] });
  return checks.failed + unit.failed === 0 ? 0 : 1;
});
