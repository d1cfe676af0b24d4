import { messageOf } from '../../../base/errors.ts';
import { openLook, type Look, type LookOptions } from '../look.ts';
import { ITEM_MS_MAX, runItems, withinLimit } from '../run-items.ts';
import { ACCESS_CHECKS } from './access.ts';
import { API_SERVER_CHECKS } from './api-server.ts';
import { bad, type BenchmarkCheck, type Result } from './check.ts';
import { ETCD_CHECKS } from './etcd.ts';
import { CONTROL_PLANE_FILES, NODE_FILES } from './files.ts';
import { MANAGER_CHECKS } from './managers.ts';
import { NODE_CHECKS } from './nodes.ts';

/** The CIS Kubernetes Benchmark, sections 1 to 4, by its numbers (version 1.12). */
export const CIS_CHECKS: readonly BenchmarkCheck[] = [
  ...CONTROL_PLANE_FILES,
  ...API_SERVER_CHECKS,
  ...MANAGER_CHECKS,
  ...ETCD_CHECKS,
  ...ACCESS_CHECKS,
  ...NODE_FILES,
  ...NODE_CHECKS,
];

export type BenchmarkFinding = Result & Pick<BenchmarkCheck, 'id' | 'title'>;

const measure = async (check: BenchmarkCheck, look: Look): Promise<BenchmarkFinding> => {
  const { id, title } = check;
  const unmeasured = (why: string): Result =>
    bad(`check failed to run: ${why}`, 'start the cluster, or run pilothouse status to see what is down');
  const late = (): Result => unmeasured(`no result within ${ITEM_MS_MAX / 1000} s`);
  try {
    return { id, title, ...(await withinLimit(look.clock, check.measure(look), late)) };
  } catch (error) {
    return { id, title, ...unmeasured(messageOf(error)) };
  }
};

/** Measures every check on the cluster as it runs now. Never rejects for what the cluster does. */
export const runCisBenchmark = async (
  dataDirectory: string,
  options: LookOptions,
): Promise<readonly BenchmarkFinding[]> => {
  const look = await openLook(dataDirectory, options);
  try {
    return await runItems(CIS_CHECKS, (check) => measure(check, look));
  } finally {
    look.dispose();
  }
};
