import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/until.ts';
import type { Denied } from './api-client.ts';

/** Resolves with the number of attempts once each of them is in an audit log. */
export const untilAudited = async (data: string, denied: readonly Denied[]): Promise<number> => {
  const folder = join(data, 'audit');
  return until('every denied attempt to be in the audit logs', () => {
    const logs = readdirSync(folder)
      .filter((name) => name.endsWith('.log'))
      .map((name) => readFileSync(join(folder, name), 'utf8'));
    const missing = denied.filter(({ auditId }) => !logs.some((text) => text.includes(`"${auditId}"`)));
    if (missing.length > 0) throw new Error(`not recorded: ${JSON.stringify(missing.slice(0, 5))}`);
    return Promise.resolve(denied.length);
  });
};
