import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../support/until.ts';
import type { Denied } from './api-client.ts';

/** Renewals of leases, events and statuses come every few seconds, so the default policy records none of them. */
const UNRECORDED = /\/leases(\/|$)|\/events(\/|$)|\/status$/;

/** What the default policy records: every failed login, every write, and everything about Secrets. */
export const isRecorded = ({ method, path, code }: Denied): boolean => {
  if (UNRECORDED.test(path.split('?')[0]!)) return false;
  return code === 401 || !['GET', 'HEAD'].includes(method) || path.includes('/secrets');
};

/** Resolves with the number of attempts once each of them is in an audit log. */
export const untilAudited = async (data: string, denied: readonly Denied[]): Promise<number> => {
  const expected = denied.filter(isRecorded);
  const folder = join(data, 'audit');
  return until('every denied attempt to be in the audit logs', () => {
    const logs = readdirSync(folder)
      .filter((name) => name.endsWith('.log'))
      .map((name) => readFileSync(join(folder, name), 'utf8'));
    const missing = expected.filter(({ auditId }) => !logs.some((text) => text.includes(`"${auditId}"`)));
    if (missing.length > 0) throw new Error(`not recorded: ${JSON.stringify(missing.slice(0, 5))}`);
    return Promise.resolve(expected.length);
  });
};
