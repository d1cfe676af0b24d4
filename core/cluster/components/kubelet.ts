import { readFileSync } from 'node:fs';
import { NEWEST_RELEASE } from '../../api/releases/index.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { parseFlags } from '../../base/flags.ts';
import { readKubeletConfig } from '../../kubelet/config/config.ts';
import { KUBELET_FLAGS } from '../../kubelet/config/flags.ts';
import { runKubelet } from '../../kubelet/run/run-kubelet.ts';
import type { Component } from './component.ts';
import { levelOf } from './verbosity.ts';

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new ReasonError('BadConfiguration', `--config: cannot read ${path}: ${messageOf(cause)}`, {
      cause,
    });
  }
};

export const kubelet: Component = {
  name: 'kubelet',
  flags: KUBELET_FLAGS,
  versionText: `Kubernetes ${NEWEST_RELEASE}`,
  logLevel: (args) => levelOf(parseFlags(KUBELET_FLAGS, args).values.v),
  start: (args, { log, version = NEWEST_RELEASE }) =>
    runKubelet(readKubeletConfig(args, read), { log, version }),
};
