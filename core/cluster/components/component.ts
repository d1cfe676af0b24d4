import type { FlagTable } from '../../base/flags.ts';
import type { Log, LogLevel } from '../../base/log.ts';

export interface ComponentOptions {
  readonly log: Log;
  /** The release it behaves as, `v1.36.0`; the newest without it. etcd has a version of its own. */
  readonly version?: string;
}

export interface RunningComponent {
  /** Rejects when it stops on its own. */
  readonly failed: Promise<never>;
  close(): Promise<void>;
}

/** One component of the control plane, with upstream's name and flags. */
export interface Component {
  readonly name: string;
  readonly flags: FlagTable;
  /** For `--version`. */
  readonly versionText: string;
  /** Adds what else its command line is made of: a file, variables of the environment. */
  settings?(
    args: readonly string[],
    environment: Readonly<Record<string, string | undefined>>,
  ): Promise<{ readonly args: readonly string[]; readonly warnings: readonly string[] }>;
  logLevel(args: readonly string[]): LogLevel;
  start(args: readonly string[], options: ComponentOptions): Promise<RunningComponent>;
}
