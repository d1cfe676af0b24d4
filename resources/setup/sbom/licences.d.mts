import type { ShippedPackage } from './packages.mjs';

export declare const licenceList: (packages: readonly ShippedPackage[], root?: string) => string;
