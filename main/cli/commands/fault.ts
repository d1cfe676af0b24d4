import { callControl } from '../../../core/cluster/control/client.ts';
import type { Fault, FaultRequest } from '../../../core/cluster/faults/fault.ts';
import {
  EXIT_OK,
  leadingWords,
  parseOptions,
  usageError,
  type Command,
  type CommandContext,
} from '../command.ts';

const USAGE = `  pilothouse fault list [--data DIR] [-o json]
  pilothouse fault cut HOST HOST [--one-way] [--data DIR] [-o json]
  pilothouse fault delay HOST HOST MS [--one-way] [--data DIR] [-o json]
  pilothouse fault isolate HOST [--data DIR] [-o json]
  pilothouse fault slow-disk HOST MS [--data DIR] [-o json]
  pilothouse fault clock HOST +MS|-MS [--data DIR] [-o json]
  pilothouse fault heal ID|all [--data DIR] [-o json]

  Injects faults into the running cluster. A fault lasts until you heal it or restart a host it names. A cut link drops
  traffic silently, also on open connections; --one-way cuts only traffic from the first host to the second. isolate
  cuts a host off from all other hosts and from load-balancer, which can also be used as a HOST. A delay to
  load-balancer applies to API responses, not to requests. slow-disk delays every WAL fsync of the host's etcd member.
  clock moves the wall clock of all components on the host ahead or behind.`;

const MS = /^\d{1,5}$/;
const OFFSET = /^[+-]?\d{1,12}$/;

const requestOf = (verb: string, words: readonly string[], isOneWay: boolean): FaultRequest => {
  const [first = '', second = '', third = ''] = words;
  switch (verb) {
    case 'cut':
      if (words.length !== 2) throw usageError('fault cut requires two hosts');
      return { kind: 'cut', from: first, to: second, isOneWay };
    case 'delay':
      if (words.length !== 3 || !MS.test(third))
        throw usageError('fault delay requires two hosts and a delay in milliseconds');
      return { kind: 'delay', from: first, to: second, delayMs: Number(third), isOneWay };
    case 'slow-disk':
      if (words.length !== 2 || !MS.test(second))
        throw usageError('fault slow-disk requires a host and a delay in milliseconds');
      return { kind: 'slow-disk', host: first, delayMs: Number(second) };
    case 'clock':
      if (words.length !== 2 || !OFFSET.test(second))
        throw usageError('fault clock requires a host and an offset in milliseconds, such as +5000 or -5000');
      return { kind: 'clock', host: first, offsetMs: Number(second) };
    default:
      throw usageError('fault requires list, cut, delay, isolate, slow-disk, clock or heal');
  }
};

const printFaults = (faults: readonly Fault[], json: boolean, context: CommandContext): void => {
  if (json) return context.print(JSON.stringify(faults));
  for (const { id, text } of faults) context.print(`${id.padEnd(5)} ${text}`);
  if (faults.length === 0) context.print('no active faults');
};

/** `-5000` is an offset and not a flag: words end at the first flag that is no number. */
const split = (args: readonly string[]): { words: readonly string[]; rest: readonly string[] } => {
  const marked = args.map((arg) => (/^-\d+$/.test(arg) ? ` ${arg}` : arg));
  const { words, rest } = leadingWords(marked);
  return { words: words.map((word) => word.trim()), rest };
};

export const fault: Command = {
  usage: USAGE,
  async run(args, context) {
    const { words, rest } = split(args);
    const [verb = '', ...names] = words;
    const { values, dataDirectory, json } = parseOptions({ 'one-way': { type: 'boolean' } }, rest, context);
    const isOneWay = (values as { 'one-way'?: boolean })['one-way'] === true;
    if (verb === 'list' && names.length === 0)
      printFaults(await callControl(dataDirectory, 'fault.list', {}), json, context);
    else if (verb === 'heal' && names.length === 1) {
      const healed = await callControl(dataDirectory, 'fault.heal', { id: names[0]! });
      if (json) context.print(JSON.stringify(healed));
      else
        context.print(
          healed.length === 0
            ? 'no active faults'
            : `healed ${healed.length} ${healed.length === 1 ? 'fault' : 'faults'}`,
        );
    } else if (verb === 'isolate' && names.length === 1)
      printFaults(await callControl(dataDirectory, 'fault.isolate', { host: names[0]! }), json, context);
    else {
      const request = requestOf(verb, names, isOneWay);
      printFaults(
        [await callControl(dataDirectory, 'fault.add', { request: JSON.stringify(request) })],
        json,
        context,
      );
    }
    return EXIT_OK;
  },
};
