import { releaseOf } from '../../api/releases/index.ts';
import type { VersionInfo } from '../server/version-info.ts';

export const versionInfo = (minor: number): VersionInfo => ({
  major: '1',
  minor: String(minor),
  emulationMajor: '1',
  emulationMinor: String(minor),
  minCompatibilityMajor: '1',
  minCompatibilityMinor: String(minor - 1),
  gitVersion: releaseOf(minor).version,
  gitCommit: '0000000000000000000000000000000000000000',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: `node-${process.version}`,
  compiler: 'v8',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
});
