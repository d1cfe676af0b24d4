import net from 'node:net';
import { RCODE, rcodeText, TYPE, typeText, type ResourceRecord } from '../../../../dns/wire/index.ts';
import type { Command, Process } from './process.ts';
import { lookUp } from './reach.ts';
import { addressesOf, resolveName, Unresolved, type Resolved } from './resolver.ts';

const DNS_PORT = 53;
const NOT_FOUND_EXIT = 2;
const NO_SERVER_EXIT = 9;

const withoutDot = (name: string): string => name.replace(/(.)\.$/, '$1');

const reverseName = (address: string): string => `${address.split('.').reverse().join('.')}.in-addr.arpa.`;

const typeNamed = (name: string): number | undefined => {
  const upper = name.toUpperCase();
  return Object.hasOwn(TYPE, upper) ? TYPE[upper as keyof typeof TYPE] : undefined;
};

const dataText = ({ data }: ResourceRecord): string => {
  switch (data.kind) {
    case 'address':
      return data.address;
    case 'name':
      return data.target;
    case 'mx':
      return `${data.preference} ${data.target}`;
    case 'srv':
      return `${data.priority} ${data.weight} ${data.port} ${data.target}`;
    case 'soa':
      return `${data.primary} ${data.mailbox} ${data.serial} ${data.refreshSeconds} ${data.retrySeconds} ${data.expireSeconds} ${data.minimumSeconds}`;
    case 'txt':
      return data.texts.map((text) => JSON.stringify(text)).join(' ');
    case 'raw':
      return `\\# ${data.bytes.length} ${Buffer.from(data.bytes).toString('hex')}`;
  }
};

/** Undefined and a line on standard error where no server answers. */
const resolveOrTell = async (
  process: Process,
  ...question: [name: string, type: number, servers: readonly string[] | undefined]
): Promise<Resolved | undefined> => {
  try {
    return await resolveName(process, ...question);
  } catch (error) {
    if (!(error instanceof Unresolved)) throw error;
    process.err(`;; connection timed out; no servers could be reached (${error.message})\n`);
    return undefined;
  }
};

const nslookupText = (record: ResourceRecord): string => {
  const name = withoutDot(record.name);
  switch (record.type) {
    case TYPE.A:
    case TYPE.AAAA:
      return `Name:\t${name}\nAddress: ${dataText(record)}\n`;
    case TYPE.CNAME:
      return `${name}\tcanonical name = ${withoutDot(dataText(record))}\n`;
    case TYPE.PTR:
      return `${name}\tname = ${withoutDot(dataText(record))}\n`;
    case TYPE.SRV:
      return `${name}\tservice = ${withoutDot(dataText(record))}\n`;
    case TYPE.TXT:
      return `${name}\ttext = ${dataText(record)}\n`;
    default:
      return `${name}\t${typeText(record.type)} = ${dataText(record)}\n`;
  }
};

/** busybox: `nslookup [-type=TYPE] HOST [SERVER]`. */
const nslookup: Command = async (process) => {
  const words = process.args.filter((arg) => !arg.startsWith('-'));
  const wanted = process.args.map((arg) => /^-(?:type|query|q)=(.+)$/.exec(arg)?.[1]).find(Boolean);
  const [name = '', server] = words;
  const type = wanted === undefined ? undefined : typeNamed(wanted);
  if (name === '' || (wanted !== undefined && type === undefined)) {
    process.err('Usage: nslookup [-type=QUERY_TYPE] HOST [DNS_SERVER]\n');
    return 1;
  }
  const isAddress = net.isIPv4(name);
  const resolved = await resolveOrTell(
    process,
    isAddress ? reverseName(name) : name,
    type ?? (isAddress ? TYPE.PTR : TYPE.A),
    server === undefined ? undefined : [server],
  );
  if (!resolved) return 1;
  process.out(`Server:\t\t${resolved.server}\nAddress:\t${resolved.server}:${DNS_PORT}\n\n`);
  const { answer } = resolved;
  if (answer.answers.length === 0) {
    const why = answer.rcode === RCODE.NOERROR ? 'No answer' : rcodeText(answer.rcode);
    process.out(
      answer.rcode === RCODE.NOERROR
        ? `*** Can't find ${name}: ${why}\n\n`
        : `** server can't find ${name}: ${why}\n\n`,
    );
    return 1;
  }
  process.out(`${answer.answers.map(nslookupText).join('')}\n`);
  return 0;
};

const HOST_TEXTS: Readonly<Record<number, string>> = {
  [TYPE.A]: 'has address',
  [TYPE.AAAA]: 'has IPv6 address',
  [TYPE.CNAME]: 'is an alias for',
  [TYPE.PTR]: 'domain name pointer',
  [TYPE.SRV]: 'has SRV record',
  [TYPE.TXT]: 'descriptive text',
};

const host: Command = async (process) => {
  const { args } = process;
  const typeAt = args.indexOf('-t');
  const words = args.filter((arg, index) => !arg.startsWith('-') && (typeAt < 0 || index !== typeAt + 1));
  const [name = '', server] = words;
  const type = typeAt < 0 ? undefined : typeNamed(args[typeAt + 1] ?? '');
  if (name === '' || (typeAt >= 0 && type === undefined)) {
    process.err('Usage: host [-t type] {name} [server]\n');
    return 1;
  }
  const isAddress = net.isIPv4(name);
  const resolved = await resolveOrTell(
    process,
    isAddress ? reverseName(name) : name,
    type ?? (isAddress ? TYPE.PTR : TYPE.A),
    server === undefined ? undefined : [server],
  );
  if (!resolved) return 1;
  const { answer } = resolved;
  if (answer.rcode !== RCODE.NOERROR) {
    process.out(`Host ${name} not found: ${answer.rcode}(${rcodeText(answer.rcode)})\n`);
    return 1;
  }
  for (const record of answer.answers)
    process.out(
      `${withoutDot(record.name)} ${HOST_TEXTS[record.type] ?? `has ${typeText(record.type)} record`} ${dataText(record)}\n`,
    );
  return 0;
};

const getent: Command = async (process) => {
  const [database, ...names] = process.args;
  if ((database !== 'hosts' && database !== 'ahosts') || names.length === 0) {
    process.err('usage: getent hosts name...\n');
    return 1;
  }
  for (const name of names) {
    const own = lookUp(process, name);
    if (own !== undefined) {
      process.out(`${own.padEnd(15)} ${name}\n`);
      continue;
    }
    try {
      const resolved = await resolveName(process, name);
      const addresses = addressesOf(resolved);
      if (addresses.length === 0) return NOT_FOUND_EXIT;
      for (const address of addresses) process.out(`${address.padEnd(15)} ${withoutDot(resolved.name)}\n`);
    } catch (error) {
      if (!(error instanceof Unresolved)) throw error;
      return NOT_FOUND_EXIT;
    }
  }
  return 0;
};

const parseDig = (args: readonly string[]) => {
  let [name, type, server]: [string, number, string | undefined] = ['.', TYPE.A, undefined];
  const flags = new Set<string>();
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index]!;
    if (arg.startsWith('@')) server = arg.slice(1);
    else if (arg.startsWith('+')) flags.add(arg.slice(1));
    else if (arg === '-x') [name, type] = [reverseName(args[(index += 1)] ?? ''), TYPE.PTR];
    else if (arg === '-t') type = typeNamed(args[(index += 1)] ?? '') ?? type;
    else if (arg !== 'IN' && !arg.startsWith('-')) {
      const named = typeNamed(arg);
      if (named === undefined) name = arg;
      else type = named;
    }
  }
  // Without search paths, unless they are asked for.
  return { name: flags.has('search') || name.endsWith('.') ? name : `${name}.`, type, server, flags };
};

const recordLine = (record: ResourceRecord): string =>
  `${record.name}\t${record.ttlSeconds}\tIN\t${typeText(record.type)}\t${dataText(record)}\n`;

const dig: Command = async (process) => {
  const { name, type, server, flags } = parseDig(process.args);
  const resolved = await resolveOrTell(process, name, type, server === undefined ? undefined : [server]);
  if (!resolved) return NO_SERVER_EXIT;
  const { answer } = resolved;
  if (flags.has('short')) {
    process.out(answer.answers.map((record) => `${dataText(record)}\n`).join(''));
    return 0;
  }
  const set = [
    ...['qr', ...(answer.isAuthoritative ? ['aa'] : []), ...(answer.isTruncated ? ['tc'] : [])],
    ...[...(answer.isRecursionDesired ? ['rd'] : []), ...(answer.isRecursionAvailable ? ['ra'] : [])],
  ];
  const section = (title: string, records: readonly ResourceRecord[]): string =>
    records.length === 0 ? '' : `\n;; ${title} SECTION:\n${records.map(recordLine).join('')}`;
  process.out(
    `;; ->>HEADER<<- opcode: QUERY, status: ${rcodeText(answer.rcode)}, id: ${answer.id}\n` +
      `;; flags: ${set.join(' ')}; QUERY: 1, ANSWER: ${answer.answers.length}, AUTHORITY: ${answer.authorities.length}, ADDITIONAL: ${answer.additionals.length}\n` +
      `\n;; QUESTION SECTION:\n;${resolved.name}\t\tIN\t${typeText(type)}\n` +
      section('ANSWER', answer.answers) +
      section('AUTHORITY', answer.authorities) +
      section('ADDITIONAL', answer.additionals) +
      `\n;; SERVER: ${resolved.server}#${DNS_PORT}\n`,
  );
  return 0;
};

/** Commands that look names up with the nameservers of the container's resolv.conf. */
export const nameCommands: Readonly<Record<string, Command>> = { nslookup, host, getent, dig };
