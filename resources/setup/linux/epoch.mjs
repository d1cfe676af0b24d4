import { lutimesSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../paths.mjs';
import { run } from '../run.mjs';

/** Where there is neither a given time nor a history (an exported source tree): 1 January 1980, the first of zip. */
const FALLBACK_SECONDS = 315532800;

/** The time of what is built: SOURCE_DATE_EPOCH, else that of the last commit. Seconds since 1970. */
export const sourceDateEpoch = async () => {
  const given = process.env.SOURCE_DATE_EPOCH;
  if (given !== undefined && /^\d{1,12}$/.test(given)) return Number(given);
  const { code, output } = await run('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, capture: true });
  return code === 0 && /^\d+\s*$/.test(output) ? Number(output) : FALLBACK_SECONDS;
};

/** Gives everything in a folder the same time, so that two builds of one commit are the same. */
export const setTimes = (folder, seconds) => {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) setTimes(path, seconds);
    else lutimesSync(path, seconds, seconds);
  }
  lutimesSync(folder, seconds, seconds);
};
