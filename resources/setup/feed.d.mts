/** Returns the public key in base64. */
export declare const makeKey: (file: string) => string;

export declare const signedFeed: (options: {
  /** The private key, PEM. */
  readonly key: string;
  readonly base: string;
  readonly files: readonly string[];
  readonly version: string;
  readonly releases: readonly { readonly version: string; readonly date: string; readonly notes: string }[];
  readonly nowMs: number;
  readonly days?: number;
}) => { readonly bytes: Buffer; readonly signature: string };
