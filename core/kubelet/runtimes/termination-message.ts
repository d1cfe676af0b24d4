import type { V1Container } from '../../api/schema/index.ts';
import type { ContainerLog } from './container-log.ts';

/** Upstream's bounds on a termination message, and on the part of the log that may stand for it. */
export const MESSAGE_BYTES_MAX = 4_096;
const FALLBACK_BYTES_MAX = 2_048;
const FALLBACK_LINES_MAX = 80;

export const MESSAGE_PATH_DEFAULT = '/dev/termination-log';

/** `FallbackToLogsOnError`: the end of the log of a container that has failed without a message. */
export const messageFromLog = async (
  log: ContainerLog,
  {
    policy,
    exitCode,
  }: { readonly policy: V1Container['terminationMessagePolicy']; readonly exitCode: number },
): Promise<string> => {
  if (policy !== 'FallbackToLogsOnError' || exitCode === 0) return '';
  const reading = { tailLines: FALLBACK_LINES_MAX, follow: false, signal: new AbortController().signal };
  let tail = '';
  for await (const lines of log.read(reading))
    for (const { text, isPartial } of lines) tail += isPartial ? text : `${text}\n`;
  return Buffer.from(tail).subarray(-FALLBACK_BYTES_MAX).toString();
};
