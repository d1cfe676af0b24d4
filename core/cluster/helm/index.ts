export { rollback, uninstall, type HelmContext } from './change.ts';
export { describeRelease } from './describe.ts';
export { listReleases } from './releases.ts';
