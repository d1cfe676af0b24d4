import { silentLog } from '../../../core/base/log.ts';
import { systemClock } from '../../../core/base/node/clock.ts';
import { systemRandom } from '../../../core/base/node/random.ts';
import { connect, loadOwnKubeconfig } from '../../../core/client/index.ts';
import { adminKubeconfigFile } from '../../../core/cluster/data-folder/layout.ts';
import { requireCluster } from '../../../core/cluster/data-folder/open.ts';
import { checkReach, type ReachQuestion } from '../../../core/cluster/network-policy/check-reach.ts';
import { EXIT_FAILURE, EXIT_OK, leadingWords, parseOptions, usageError, type Command } from '../command.ts';

const ANSWER_MS_MAX = 10_000;
const OPTIONS = {
  from: { type: 'string' },
  to: { type: 'string' },
  port: { type: 'string' },
} as const;

const portOf = (text: string): Pick<ReachQuestion, 'port' | 'protocol'> => {
  const match = /^(\d{1,5})(?:\/(tcp|udp|sctp))?$/i.exec(text);
  const port = Number(match?.[1]);
  if (!match || port < 1 || port > 65_535)
    throw usageError(`--port: ${JSON.stringify(text)} must be a port such as 80 or 53/UDP`);
  return { port, protocol: (match[2]?.toUpperCase() ?? 'TCP') as ReachQuestion['protocol'] };
};

export const policy: Command = {
  usage: `  pilothouse policy check --from POD --to POD --port PORT[/PROTOCOL] [--data DIR] [-o json]

  Says whether NetworkPolicies allow a connection, and which of them decide. POD is NAMESPACE/NAME, the name of a pod in
  the namespace default, or an IP address. Exits with 1 if the connection is denied.`,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    if (words.length !== 1 || words[0] !== 'check') throw usageError('policy accepts one command: check');
    const { values, dataDirectory, json } = parseOptions(OPTIONS, rest, context);
    const { from, to, port } = values as Partial<Record<keyof typeof OPTIONS, string>>;
    if (from === undefined || to === undefined || port === undefined)
      throw usageError('policy check needs --from, --to and --port');
    const question: ReachQuestion = { from, to, ...portOf(port) };
    await requireCluster(dataDirectory);
    const client = connect(await loadOwnKubeconfig(adminKubeconfigFile(dataDirectory)), {
      clock: systemClock,
      random: systemRandom,
      log: silentLog,
      userAgent: 'pilothouse-policy',
      timeoutMs: ANSWER_MS_MAX,
    });
    try {
      const { connection, verdict, lines } = await checkReach(client, question);
      if (json) context.print(JSON.stringify({ connection, ...verdict }));
      else for (const line of lines) context.print(line);
      return verdict.isAllowed ? EXIT_OK : EXIT_FAILURE;
    } finally {
      client.dispose();
    }
  },
};
