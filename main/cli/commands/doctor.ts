import { systemClock } from '../../../core/base/node/clock.ts';
import { examine } from '../../../core/cluster/checks/doctor.ts';
import { stateOrNone } from '../../../core/cluster/checks/gather.ts';
import { parseOptions, type Command } from '../command.ts';
import { printFindings } from './findings.ts';

export const doctor: Command = {
  usage: `  pilothouse doctor [--data DIR] [-o json]

  Diagnoses problems that keep a cluster from running: files, keys, certificates, ports and disk space.`,
  async run(args, context) {
    const { dataDirectory, json } = parseOptions({}, args, context);
    const isRunning = (await stateOrNone(dataDirectory)) !== undefined;
    return printFindings(await examine(dataDirectory, { clock: systemClock, isRunning }), json, context);
  },
};
