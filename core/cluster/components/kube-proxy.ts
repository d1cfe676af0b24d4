import { parseFlags } from '../../base/flags.ts';
import { NEWEST_RELEASE } from '../../api/releases/index.ts';
import { readProxyConfig } from '../../proxy/config/config.ts';
import { PROXY_FLAGS } from '../../proxy/config/flags.ts';
import { runProxy } from '../../proxy/run-proxy.ts';
import type { Component } from './component.ts';
import { levelOf } from './verbosity.ts';

export const kubeProxy: Component = {
  name: 'kube-proxy',
  flags: PROXY_FLAGS,
  versionText: `Kubernetes ${NEWEST_RELEASE}`,
  logLevel: (args) => levelOf(parseFlags(PROXY_FLAGS, args).values.v),
  start: async (args, { log }) => runProxy(await readProxyConfig(args), log),
};
