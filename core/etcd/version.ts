/** The etcd whose API this member speaks; clients choose features by it. */
export const ETCD_VERSION = '3.6.0';
/** What the members agree on: major and minor. */
export const ETCD_CLUSTER_VERSION = '3.6.0';
/** The API without its patch level, as etcd's own clients print it. */
export const ETCD_STORAGE_VERSION = '3.6.0';
