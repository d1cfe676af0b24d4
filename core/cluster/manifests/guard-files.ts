/** Below the data directory; every API server of the cluster reads them. */
export const ENCRYPTION_CONFIG_FILE = 'encryption.yaml';
/** With the key that the last rotation replaced: older snapshots need it. */
export const PREVIOUS_ENCRYPTION_FILE = 'encryption.previous.yaml';
export const AUDIT_POLICY_FILE = 'audit-policy.yaml';
/** Events of the API server of each host. */
export const AUDIT_FOLDER = 'audit';

/** What new clusters have, and older ones once it was turned on: the files say which. */
export interface Guards {
  readonly isEncrypted: boolean;
  readonly isAudited: boolean;
}

export const NO_GUARDS: Guards = { isEncrypted: false, isAudited: false };
