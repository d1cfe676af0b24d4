/** Flags that lost their `experimental-` in etcd 3.6; the older name still counts where the newer is not given. */
const RENAMED: readonly string[] = [
  'bootstrap-defrag-threshold-megabytes',
  'compact-hash-check-time',
  'compaction-batch-limit',
  'compaction-sleep-interval',
  'corrupt-check-time',
  'distributed-tracing-address',
  'distributed-tracing-instance-id',
  'distributed-tracing-sampling-rate',
  'distributed-tracing-service-name',
  'downgrade-check-time',
  'enable-distributed-tracing',
  'memory-mlock',
  'peer-skip-client-san-verification',
  'snapshot-catchup-entries',
  'warning-apply-duration',
  'warning-unary-request-duration',
  'watch-progress-notify-interval',
];

const NEWER = new Map(RENAMED.map((name) => [`experimental-${name}`, name]));
export const OLDER_NAMES: readonly string[] = [...NEWER.keys()];

const FLAG = /^--?([^=]+)(.*)$/s;

/** The same command line with the names of etcd 3.6. */
export const withNewerNames = (args: readonly string[]): { args: string[]; deprecated: string[] } => {
  const nameOf = (arg: string): string => FLAG.exec(arg)?.[1] ?? '';
  const given = new Set(args.map(nameOf));
  const deprecated: string[] = [];
  const renamed: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at]!;
    const older = arg.startsWith('-') ? nameOf(arg) : '';
    const newer = NEWER.get(older);
    if (newer === undefined) {
      renamed.push(arg);
      continue;
    }
    deprecated.push(`--${older} is deprecated; use --${newer} instead`);
    if (!given.has(newer)) renamed.push(`--${newer}${FLAG.exec(arg)![2]!}`);
    // The value of a name that does not count goes with it.
    else if (!arg.includes('=') && args[at + 1]?.startsWith('-') === false) at += 1;
  }
  return { args: renamed, deprecated };
};
