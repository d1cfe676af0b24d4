import { readApiServerConfig } from '../../apiserver/config/config.ts';
import { APISERVER_FLAGS } from '../../apiserver/config/flags.ts';
import { runApiServer } from '../../apiserver/run/run-apiserver.ts';
import { NEWEST_RELEASE } from '../../api/releases/index.ts';
import { minorOf } from '../config/config.ts';
import type { Component } from './component.ts';

/** One API server. Closing it stops it in order: /readyz fails, watches end, requests finish. */
export const kubeApiServer: Component = {
  name: 'kube-apiserver',
  flags: APISERVER_FLAGS,
  versionText: `Kubernetes ${NEWEST_RELEASE}`,
  logLevel: (args) => readApiServerConfig(args).logLevel,
  async start(args, { log, version }) {
    const emulated = version === undefined ? [] : [`--emulated-version=1.${minorOf(version)}`];
    const running = await runApiServer(readApiServerConfig([...emulated, ...args]), log);
    const { address, port } = running.address;
    log.write('info', 'serving securely', { address, port });
    return running;
  },
};
