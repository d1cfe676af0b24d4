export declare const packageApp: (options?: {
  readonly targets?: readonly string[];
  /** May use the Electron of the tests; writes to release/test. */
  readonly forTests?: boolean;
  readonly output?: string;
}) => Promise<string>;

export declare const packagedExecutable: (outDirectory: string) => string;
