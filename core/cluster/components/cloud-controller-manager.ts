import { NEWEST_RELEASE } from '../../api/releases/index.ts';
import { readCloudSettings } from '../../cloud/config/config.ts';
import { CLOUD_FLAGS } from '../../cloud/config/flags.ts';
import { runCloudControllerManager } from '../../cloud/run/run-cloud-controller-manager.ts';
import type { Component } from './component.ts';
import { levelOf } from './verbosity.ts';

export const cloudControllerManager: Component = {
  name: 'cloud-controller-manager',
  flags: CLOUD_FLAGS,
  versionText: `Kubernetes ${NEWEST_RELEASE}`,
  logLevel: (args) => levelOf(readCloudSettings(args).v),
  start: (args, { log, version = NEWEST_RELEASE }) =>
    runCloudControllerManager({ settings: readCloudSettings(args), version, log }),
};
