import { callControl } from '../../../core/cluster/control/client.ts';
import { requireCluster } from '../../../core/cluster/index.ts';
import { upgradeTargets } from '../../../core/cluster/upgrade/plan.ts';
import { EXIT_OK, leadingWords, parseOptions, usageError, type Command } from '../command.ts';

export const upgrade: Command = {
  usage: `  pilothouse upgrade plan [--data DIR] [-o json]
  pilothouse upgrade apply v1.N.P [--data DIR] [-o json]

  apply takes a snapshot, then moves API servers, managers and kubelets of the running cluster to the release, one
  host after the other.`,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    const [verb, target, ...more] = words;
    const { dataDirectory, json } = parseOptions({}, rest, context);
    if (verb === 'plan' && target === undefined) {
      const { kubernetesVersion: current } = (await requireCluster(dataDirectory)).spec;
      const targets = upgradeTargets(current);
      if (json) context.print(JSON.stringify({ current, targets }));
      else if (targets.length === 0)
        context.print(`the cluster runs ${current}, the newest release there is`);
      else context.print(`the cluster runs ${current}; pilothouse upgrade apply ${targets[0]}`);
      return EXIT_OK;
    }
    if (verb !== 'apply' || target === undefined || more.length > 0)
      throw usageError('upgrade takes plan, or apply and a version');
    const params = { version: target };
    const outcome = await callControl(dataDirectory, 'upgrade.apply', params, (line) => context.note(line));
    context.print(json ? JSON.stringify(outcome) : `upgraded from ${outcome.from} to ${outcome.to}`);
    return EXIT_OK;
  },
};
