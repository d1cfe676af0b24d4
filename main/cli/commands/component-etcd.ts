import { jsonLog } from '../../../core/base/node/log.ts';
import { readMemberConfig } from '../../../core/etcd/config/config.ts';
import { ETCD_FLAGS } from '../../../core/etcd/config/flags.ts';
import { runMember } from '../../../core/etcd/server/run-member.ts';
import { ETCD_VERSION } from '../../../core/etcd/version.ts';
import { EXIT_OK, type CommandContext } from '../command.ts';

const HELP_COLUMN = 44;

const printHelp = (context: CommandContext): void => {
  context.print("Usage: pilothouse component etcd [etcd's flags]\n");
  for (const [name, { kind, default: fallback, help }] of Object.entries(ETCD_FLAGS)) {
    const shown = Array.isArray(fallback) ? fallback.join(',') : String(fallback);
    context.print(`  ${`--${name} '${shown}'`.padEnd(HELP_COLUMN)} ${kind.type}: ${help}`);
  }
};

/** One etcd member. SIGTERM closes it in order; a failure of its disk ends it with one line. */
export const runEtcd = async (args: readonly string[], context: CommandContext): Promise<number> => {
  if (args.includes('--help') || args.includes('-h')) {
    printHelp(context);
    return EXIT_OK;
  }
  if (args.includes('--version')) {
    context.print(`etcd Version: ${ETCD_VERSION}`);
    return EXIT_OK;
  }
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
  const asked = new Promise<void>((resolve) => {
    if (context.signal.aborted) resolve();
    else context.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  try {
    await Promise.race([asked, running.failed]);
  } finally {
    await running.close();
  }
  return EXIT_OK;
};
