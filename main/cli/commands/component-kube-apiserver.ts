import { readApiServerConfig } from '../../../core/apiserver/config/config.ts';
import { APISERVER_FLAGS } from '../../../core/apiserver/config/flags.ts';
import { runApiServer } from '../../../core/apiserver/run/run-apiserver.ts';
import { versionInfo } from '../../../core/apiserver/run/version.ts';
import { jsonLog } from '../../../core/base/node/log.ts';
import type { CommandContext } from '../command.ts';
import { answerAboutItself, runUntilAsked } from '../run-component.ts';

/** One API server. SIGTERM stops it in order: /readyz fails, watches end, requests finish. */
export const runKubeApiServer = async (args: readonly string[], context: CommandContext): Promise<number> => {
  const about = { name: 'kube-apiserver', flags: APISERVER_FLAGS };
  if (answerAboutItself(about, args, context, () => `Kubernetes ${versionInfo(36).gitVersion}`)) return 0;
  const config = readApiServerConfig(args);
  const log = jsonLog(process.stderr, { level: config.logLevel });
  const running = await runApiServer(config, log);
  log.write('info', 'serving securely', { address: running.address.address, port: running.address.port });
  return runUntilAsked(running, context);
};
