import type { LinuxPackageOptions } from './linux/index.mjs';

export declare const packageApp: (options?: {
  readonly targets?: readonly string[];
  /** May use the Electron of the tests; writes to release/test. */
  readonly forTests?: boolean;
  readonly output?: string;
}) => Promise<string>;

export declare const packagedExecutable: (outDirectory: string) => string;

/** Linux packages of the unpacked app in `outDirectory`. Returns their files. */
export declare const packageForLinux: (
  targets: readonly string[],
  outDirectory: string,
  options?: Partial<LinuxPackageOptions>,
) => Promise<string[]>;
