import { systemClock } from '../../../core/base/node/clock.ts';
import { gatherFacts } from '../../../core/cluster/checks/gather.ts';
import { assessReadiness } from '../../../core/cluster/checks/readiness.ts';
import { parseOptions, type Command } from '../command.ts';
import { printFindings } from './findings.ts';

export const check: Command = {
  usage: `  pilothouse check [--data DIR] [-o json]

  What a production control plane should have and this cluster lacks. Exits with 1 when there is a problem.`,
  async run(args, context) {
    const { dataDirectory, json } = parseOptions({}, args, context);
    return printFindings(
      assessReadiness(await gatherFacts(dataDirectory, systemClock), systemClock),
      json,
      context,
    );
  },
};
