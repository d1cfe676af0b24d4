import { systemClock } from '../../../core/base/node/clock.ts';
import { systemRandom } from '../../../core/base/node/random.ts';
import { inEnglish, type GraphView } from '../../../core/contract/index.ts';
import { graphKindOf, graphTree } from '../../../core/graph/index.ts';
import { watchGraph } from '../../graph/watch-graph.ts';
import {
  EXIT_FAILURE,
  EXIT_OK,
  leadingWords,
  parseOptions,
  usageError,
  type Command,
  type CommandContext,
} from '../command.ts';
import { CLIENT_OPTIONS, openClient } from '../open-client.ts';

const OPTIONS = {
  namespace: { type: 'string', short: 'n' },
  ...CLIENT_OPTIONS,
} as const;

const USAGE = `  pilothouse graph [KIND/NAME] [-n NAMESPACE] [--kubeconfig FILE] [--context NAME] [--data DIR] [-o json]

  Shows how the parts of an application relate (owners, services, endpoints, volumes, configuration, service accounts, RBAC,
  policies, quotas) and why a relation is broken, with the fix. Without KIND/NAME: everything in the namespace. Exits with 1
  if something is broken.`;

const targetOf = (word: string | undefined): { readonly kind: string; readonly name: string } => {
  if (word === undefined) return { kind: '', name: '' };
  const [kindWord = '', name = '', ...more] = word.split('/');
  const kind = graphKindOf(kindWord);
  if (name === '' || more.length > 0)
    throw usageError(`graph takes KIND/NAME, such as deployment/web, not "${word}"`);
  if (kind === undefined)
    throw usageError(`"${kindWord}" is not a kind that the graph knows; try deployment, service or pod`);
  return { kind, name };
};

const isBroken = ({ nodes, edges }: GraphView): boolean =>
  [...nodes, ...edges].some(({ reasons }) => reasons.some(({ severity }) => severity === 'error'));

const print = (view: GraphView, json: boolean, context: CommandContext): number => {
  if (json) context.print(JSON.stringify(view));
  else {
    for (const line of graphTree(view)) context.print(line);
    for (const gap of view.gaps) context.note(`note: ${inEnglish(gap)}`);
    if (view.isCut) context.note('note: there are more objects than are shown');
  }
  return isBroken(view) ? EXIT_FAILURE : EXIT_OK;
};

export const graph: Command = {
  usage: USAGE,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    const [word, ...more] = words;
    if (more.length > 0) throw usageError('graph takes one KIND/NAME');
    const target = targetOf(word);
    const { values, dataDirectory, json } = parseOptions(OPTIONS, rest, context);
    const { client, config, cluster } = await openClient(values, {
      dataDirectory,
      cwd: context.cwd,
      userAgent: 'pilothouse-graph',
    });
    const local = cluster && { directory: dataDirectory, config: cluster };
    const ports = { clock: systemClock, random: systemRandom };
    try {
      const query = { ...target, namespace: values.namespace ?? config.namespace };
      for await (const view of watchGraph(query, { client, ...ports, local }, context.signal))
        return print(view, json, context);
      return EXIT_FAILURE;
    } finally {
      client.dispose();
    }
  },
};
