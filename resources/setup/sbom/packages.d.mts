export interface ShippedPackage {
  readonly name: string;
  /** In the clone. */
  readonly path: string;
  readonly version: string;
  readonly licence: string;
  readonly integrity: string | undefined;
}

export declare const shippedPackages: (
  lock: object,
  bundled: readonly string[],
  platform?: { readonly platform?: string; readonly arch?: string },
) => ShippedPackage[];
