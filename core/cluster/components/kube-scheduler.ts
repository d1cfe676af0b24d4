import { readFileSync } from 'node:fs';
import { NEWEST_RELEASE } from '../../api/releases/index.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import {
  readSchedulerSettings,
  SCHEDULER_FLAGS,
  type SchedulerSettings,
} from '../../scheduler/config/flags.ts';
import { runScheduler } from '../../scheduler/run/run-scheduler.ts';
import type { Component } from './component.ts';
import { levelOf } from './verbosity.ts';

const settingsOf = (args: readonly string[]): SchedulerSettings =>
  readSchedulerSettings(args, (path) => {
    try {
      return readFileSync(path, 'utf8');
    } catch (cause) {
      throw new ReasonError('BadConfiguration', `--config: cannot read ${path}: ${messageOf(cause)}`, {
        cause,
      });
    }
  });

export const kubeScheduler: Component = {
  name: 'kube-scheduler',
  flags: SCHEDULER_FLAGS,
  versionText: `Kubernetes ${NEWEST_RELEASE}`,
  logLevel: (args) => levelOf(settingsOf(args).flags.v),
  start: (args, { log, version = NEWEST_RELEASE }) =>
    runScheduler({ settings: settingsOf(args), version, log }),
};
