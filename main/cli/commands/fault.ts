import { callControl } from '../../../core/cluster/control/client.ts';
import type { Fault, FaultRequest } from '../../../core/cluster/index.ts';
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

  Breaks something of the running cluster on purpose until it is healed or a host that it names is started again. A cut
  link is silent, also in connections that are open; with --one-way only what the first sends to the second. isolate
  cuts a host off from all others and from load-balancer, which is a HOST of links too. Answers of the API to the
  load balancer are delayed, requests to it are not. slow-disk delays every fsync of the log of the host's member,
  clock puts the wall clock of everything on the host ahead or behind.`;

const MS = /^\d{1,5}$/;
const OFFSET = /^[+-]?\d{1,12}$/;

const requestOf = (verb: string, words: readonly string[], isOneWay: boolean): FaultRequest => {
  const [first = '', second = '', third = ''] = words;
  switch (verb) {
    case 'cut':
      if (words.length !== 2) throw usageError('fault cut takes two hosts');
      return { kind: 'cut', from: first, to: second, isOneWay };
    case 'delay':
      if (words.length !== 3 || !MS.test(third))
        throw usageError('fault delay takes two hosts and milliseconds');
      return { kind: 'delay', from: first, to: second, delayMs: Number(third), isOneWay };
    case 'slow-disk':
      if (words.length !== 2 || !MS.test(second))
        throw usageError('fault slow-disk takes a host and milliseconds');
      return { kind: 'slow-disk', host: first, delayMs: Number(second) };
    case 'clock':
      if (words.length !== 2 || !OFFSET.test(second))
        throw usageError('fault clock takes a host and milliseconds with a sign');
      return { kind: 'clock', host: first, offsetMs: Number(second) };
    default:
      throw usageError('fault takes list, cut, delay, isolate, slow-disk, clock or heal');
  }
};

const printFaults = (faults: readonly Fault[], json: boolean, context: CommandContext): void => {
  if (json) return context.print(JSON.stringify(faults));
  for (const { id, text } of faults) context.print(`${id.padEnd(5)} ${text}`);
  if (faults.length === 0) context.print('nothing is broken on purpose');
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
      else context.print(healed.length === 0 ? 'nothing was broken' : `healed ${healed.length}`);
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
