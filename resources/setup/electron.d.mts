export interface ResolvedElectron {
  readonly executable: string;
  readonly version: string;
  /** The folder that holds the executable, as electron-builder's `electronDist` wants it. */
  readonly dist: string;
  readonly source: 'override' | 'installed' | 'downloaded' | 'test-fallback';
}

export interface MissingElectron {
  /** One line for people. */
  readonly missing: string;
}

export declare const cacheDirectory: () => string;

export declare const resolveElectron: (options?: {
  readonly forTests?: boolean;
  readonly log?: (line: string) => void;
}) => Promise<ResolvedElectron | MissingElectron>;
