import { fileCommands } from './file-commands.ts';
import { findWith, stat } from './find-commands.ts';
import { nameCommands } from './name-commands.ts';
import { networkCommands } from './network-commands.ts';
import { pause, type Command, type Process } from './process.ts';
import { signalName } from './signals.ts';
import { tar } from './tar-command.ts';
import { textCommands } from './text-commands.ts';

const UNITS_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const sleep: Command = async (process) => {
  for (const arg of process.args) {
    if (arg === 'infinity' || arg === 'inf') await pause(process, Number.POSITIVE_INFINITY);
    const match = /^(\d+(?:\.\d+)?)([smhd]?)$/.exec(arg);
    if (!match) {
      process.err(`sleep: invalid number '${arg}'\n`);
      return 1;
    }
    await pause(process, Number(match[1]) * UNITS_SECONDS[match[2] || 's']! * 1000);
  }
  return 0;
};

const pad = (value: number): string => String(value).padStart(2, '0');

const date: Command = ({ host, args, out }) => {
  const now = new Date(host.clock.nowMs());
  const parts: Readonly<Record<string, string>> = {
    Y: String(now.getUTCFullYear()),
    m: pad(now.getUTCMonth() + 1),
    d: pad(now.getUTCDate()),
    H: pad(now.getUTCHours()),
    M: pad(now.getUTCMinutes()),
    S: pad(now.getUTCSeconds()),
    s: String(Math.floor(now.getTime() / 1000)),
    T: now.toISOString().slice(11, 19),
    F: now.toISOString().slice(0, 10),
    N: '000000000',
    Z: 'UTC',
    '%': '%',
  };
  const format = args.find((arg) => arg.startsWith('+'));
  const text = format
    ? format.slice(1).replace(/%(.)/g, (match, key: string) => parts[key] ?? match)
    : `${DAYS[now.getUTCDay()]} ${MONTHS[now.getUTCMonth()]} ${String(now.getUTCDate()).padStart(2)} ${parts['T']} UTC ${parts['Y']}`;
  out(`${text}\n`);
  return 0;
};

const uname: Command = ({ host, args, out }) => {
  const flags = args.join('').replaceAll('-', '');
  const parts: [string, string][] = [
    ['s', 'Linux'],
    ['n', host.hostname],
    ['r', host.kernelVersion],
    ['v', '#1 SMP PREEMPT_DYNAMIC'],
    ['m', 'x86_64'],
    ['o', 'GNU/Linux'],
  ];
  const wanted = flags.includes('a') ? parts : parts.filter(([flag]) => (flags || 's').includes(flag));
  out(`${wanted.map(([, text]) => text).join(' ')}\n`);
  return 0;
};

const env: Command = ({ environment, out }) => {
  for (const [name, value] of environment) out(`${name}=${value}\n`);
  return 0;
};

const ps: Command = ({ host, out }) => {
  const { name } = host.user;
  out('PID   USER     TIME  COMMAND\n');
  out(`    1 ${name.padEnd(8)}  0:00 ${host.init}\n`);
  out(`   ${String(7).padStart(2)} ${name.padEnd(8)}  0:00 ps\n`);
  return 0;
};

const id: Command = ({ host, args, out }) => {
  const { uid, gid, name, groups = [] } = host.user;
  const all = [gid, ...groups];
  const named = (number: number): string => (number === 0 ? '0(root)' : String(number));
  const flags = args.join('');
  if (flags.includes('u')) out(`${flags.includes('n') ? name : uid}\n`);
  else if (flags.includes('g')) out(`${gid}\n`);
  else if (flags.includes('G')) out(`${all.join(' ')}\n`);
  else out(`uid=${named(uid)} gid=${named(gid)} groups=${all.map(named).join(',')}\n`);
  return 0;
};

/** Process 1 ignores what it has no action for, as the kernel protects it from its own container. */
const kill: Command = ({ host, args, err }) => {
  const flag = args.find((arg) => arg.startsWith('-'));
  const name = flag === undefined ? 'TERM' : signalName(flag === '-s' ? (args[1] ?? '') : flag.slice(1));
  const pids = args.slice(flag === undefined ? 0 : flag === '-s' ? 2 : 1);
  let status = 0;
  for (const pid of pids)
    if (pid === '1') host.signals?.deliver(name);
    else {
      err(`sh: can't kill pid ${pid}: No such process\n`);
      status = 1;
    }
  return status;
};

const printenv: Command = ({ environment, args, out }) => {
  if (args.length === 0) for (const [name, value] of environment) out(`${name}=${value}\n`);
  const missing = args.filter((name) => !environment.has(name));
  for (const name of args) if (environment.has(name)) out(`${environment.get(name)!}\n`);
  return missing.length > 0 ? 1 : 0;
};

const help = ({ out }: Process): number => {
  out(`This is a simulated container. Commands: ${Object.keys(COMMANDS).sort().join(' ')}\n`);
  return 0;
};

const COMMANDS: Readonly<Record<string, Command>> = {
  ...fileCommands,
  ...textCommands,
  ...networkCommands,
  ...nameCommands,
  true: () => 0,
  false: () => 1,
  find: findWith((name) => commandNamed(name)),
  stat,
  tar,
  sleep,
  date,
  uname,
  env,
  printenv,
  ps,
  id,
  help,
  hostname: ({ host, args, out }) => {
    out(`${args.includes('-i') || args.includes('-I') ? host.podIP : host.hostname}\n`);
    return 0;
  },
  whoami: ({ host, out }) => {
    out(`${host.user.name}\n`);
    return 0;
  },
  pwd: ({ cwd, out }) => {
    out(`${cwd}\n`);
    return 0;
  },
  uptime: ({ host, out }) => {
    out(
      ` ${new Date(host.clock.nowMs()).toISOString().slice(11, 19)} up 0 min,  0 users,  load average: 0.00, 0.00, 0.00\n`,
    );
    return 0;
  },
  kill,
};

/** What can be run in a simulated container; undefined for anything else. */
export const commandNamed = (name: string): Command | undefined =>
  Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
