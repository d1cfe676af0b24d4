export * from './types.ts';
export * from './member-id.ts';
export { checkMemberUrl, checkMemberUrls } from './member-urls.ts';
export * from './initial-cluster.ts';
export * from './membership.ts';
export * from './config-change.ts';
export * from './reconfiguration.ts';
export { CLUSTER_VERSION_KEY, decodeMember, DOWNGRADE_KEY, encodeMember, memberKey } from './rows.ts';
