import { jsonLog } from '../../../core/base/node/log.ts';
import { readMemberConfig } from '../../../core/etcd/config/config.ts';
import { ETCD_FLAGS } from '../../../core/etcd/config/flags.ts';
import { runMember } from '../../../core/etcd/server/run-member.ts';
import { ETCD_VERSION } from '../../../core/etcd/version.ts';
import { EXIT_OK, type CommandContext } from '../command.ts';
import { answerAboutItself, runUntilAsked } from '../run-component.ts';

/** One etcd member. SIGTERM closes it in order; a failure of its disk ends it with one line. */
export const runEtcd = async (args: readonly string[], context: CommandContext): Promise<number> => {
  const about = { name: 'etcd', flags: ETCD_FLAGS };
  if (answerAboutItself(about, args, context, () => `etcd Version: ${ETCD_VERSION}`)) return EXIT_OK;
  const config = readMemberConfig(args);
  const log = jsonLog(process.stderr, { level: config.logLevel });
  const running = await runMember(config, log);
  const { member } = running;
  log.write('info', 'ready to serve client requests', {
    name: config.name,
    'member-id': member.id.toString(16),
    'cluster-id': member.clusterId.toString(16),
    'client-urls': config.listenClients.map(({ url }) => url),
  });
  return runUntilAsked(running, context);
};
