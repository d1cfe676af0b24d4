/** The etcd whose API this member speaks, and the tag of its image; clients choose features by it. */
export const ETCD_VERSION = '3.6.6';
/** What the members agree on: major and minor. */
export const ETCD_CLUSTER_VERSION = ETCD_VERSION.replace(/\d+$/, '0');
/** The layout of what is stored, which changes with the minor release. */
export const ETCD_STORAGE_VERSION = ETCD_CLUSTER_VERSION;
