import type { ShippedPackage } from './packages.mjs';

export interface BillOfMaterials {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: { readonly timestamp: string };
  readonly components: readonly { readonly purl: string; readonly licenses: readonly object[] }[];
}

export declare const cycloneDx: (options: {
  readonly version: string;
  readonly packages: readonly ShippedPackage[];
  /** Seconds. */
  readonly epoch: number;
}) => BillOfMaterials;
