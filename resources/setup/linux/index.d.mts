export declare const LINUX_TARGETS: readonly string[];

export interface LinuxPackageOptions {
  /** The folder of the unpacked app. */
  readonly unpacked: string;
  readonly output: string;
  readonly version: string;
  readonly arch: 'x64' | 'arm64';
  readonly description: string;
  /** Seconds; of the last commit by default. */
  readonly epoch?: number;
  /** Of the format, such as `none` for a deb that no one downloads. */
  readonly compression?: string;
}

/** Builds the named targets and returns their files. */
export declare const buildLinuxPackages: (
  targets: readonly string[],
  options: LinuxPackageOptions,
) => Promise<string[]>;
