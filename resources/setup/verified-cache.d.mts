export declare const verifiedCache: (options: {
  readonly folder: string;
  /** As `treeDigest` gives it. */
  readonly digest: string;
  fetch(): Promise<string | undefined>;
  log(line: string): void;
}) => Promise<string | undefined>;
