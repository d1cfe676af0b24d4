import { expect, test } from 'vitest';
import { runSeed } from './run-seed.ts';

/** Worlds in which a member once broke a promise. Each was seen to fail without the fix that it is named after. */
test.each([
  [66, 'a request that is in a state taken over from the leader is not proposed again'],
  [608, 'a leader that was stopped does not end leases that its successor keeps'],
  [134, 'a member that joined and restarted at once still finds its peers'],
  [386, 'a new leader renews no lease before it has applied what was committed'],
  [801, 'a database ahead of its log leaves no gap in the log'],
  [12244, 'a member that was cut off while its leader joined answers it'],
  [14468, 'a member that crashed out of its first entries answers a leader it was not told of'],
])('seed %i: %s', async (seed) => {
  const { violation, trace } = await runSeed({ seed });
  expect(violation, trace).toBeUndefined();
});
