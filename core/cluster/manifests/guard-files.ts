/** Below the data directory; every API server of the cluster reads them. */
export const ENCRYPTION_CONFIG_FILE = 'encryption.yaml';

/** What new clusters have, and older ones once it was turned on: the files say which. */
export interface Guards {
  readonly isEncrypted: boolean;
}

export const NO_GUARDS: Guards = { isEncrypted: false };
