import { messageOf, ReasonError } from '../../../../base/errors.ts';
import { evaluateArithmetic } from './arithmetic.ts';
import { commandNamed } from './commands.ts';
import { FileError } from './file-system.ts';
import {
  ARGUMENTS_CHARACTERS_MAX,
  ARGUMENTS_MAX,
  bounded,
  DEPTH_MAX,
  LimitError,
  outOfMemory,
  tooDeep,
  tooManyArguments,
  VARIABLES_MAX,
  withoutLastNewlines,
} from './limits.ts';
import { parseScript } from './parser.ts';
import { BrokenPipe, Pipe } from './pipe.ts';
import {
  commandName,
  Killed,
  readText,
  resolvePath,
  type Process,
  type ShellHost,
  type Streams,
} from './process.ts';
import { redirect } from './redirect.ts';
import { signalName } from './signals.ts';
import type { Node, Word } from './syntax.ts';

export const EXIT_NOT_FOUND = 127;
export const EXIT_KILLED = 137;
const EXIT_BROKEN_PIPE = 141;
const EXIT_CANNOT_EXECUTE = 126;
export const EXIT_SHELL_ERROR = 2;

class ExitShell extends Error {
  readonly code: number;

  constructor(code: number) {
    super('exit');
    this.code = code;
  }
}

class LoopControl extends Error {
  readonly kind: 'break' | 'continue';

  constructor(kind: 'break' | 'continue') {
    super(kind);
    this.kind = kind;
  }
}

export interface ShellOptions {
  readonly host: ShellHost;
  readonly environment: ReadonlyMap<string, string>;
  readonly signal: AbortSignal;
  readonly cwd?: string;
  readonly isTerminal?: boolean;
  /** `$0`, `$1`, ... */
  readonly parameters?: readonly string[];
  /** How many shells stand around this one. */
  readonly depth?: number;
}

const SHELLS = ['sh', 'ash', 'bash'];

/** `command -v`: where a program is, or the code that says that it is nowhere. */
const findCommand = (name: string, streams: Streams): number => {
  if (!SHELLS.includes(name) && !commandNamed(name)) return EXIT_NOT_FOUND;
  streams.out(`/bin/${name}\n`);
  return 0;
};

/** The state of one shell: variables, folder, last status. `run` may be called again and again, as a prompt does. */
export class Shell {
  readonly #options: ShellOptions;
  readonly #environment: Map<string, string>;
  #cwd: string;
  #status = 0;
  /** What its variables have grown by, which the container is charged for until the shell ends. */
  #grown = 0;

  constructor(options: ShellOptions) {
    if ((options.depth ?? 0) > DEPTH_MAX) throw tooDeep();
    this.#options = options;
    this.#environment = new Map(options.environment);
    this.#cwd = options.cwd ?? '/';
  }

  get cwd(): string {
    return this.#cwd;
  }

  /** Gives back what its variables hold; the shell is not used after that. */
  dispose(): void {
    this.#options.host.budget.give(this.#grown);
    this.#grown = 0;
  }

  /** The exit code of a script; `exit` is told apart for a prompt that has to end. */
  async run(script: string, streams: Streams): Promise<{ readonly code: number; readonly isExit: boolean }> {
    try {
      this.#status = await this.#node(parseScript(script), streams);
      return { code: this.#status, isExit: false };
    } catch (error) {
      if (error instanceof LoopControl) return { code: 0, isExit: false };
      if (error instanceof ExitShell) return { code: error.code, isExit: true };
      if (error instanceof Killed) return { code: EXIT_KILLED, isExit: true };
      this.#status = this.#failure(error, streams);
      return { code: this.#status, isExit: false };
    }
  }

  /** One command with its arguments as they are: no shell language in between. Never rejects. */
  async runCommand(argv: readonly string[], streams: Streams): Promise<number> {
    try {
      const exit = this.#options.host.budget.fork();
      return await this.#execute(argv, streams, this.#environment).finally(exit);
    } catch (error) {
      if (error instanceof LoopControl) return 0;
      if (error instanceof ExitShell) return error.code;
      return error instanceof Killed ? EXIT_KILLED : this.#failure(error, streams);
    }
  }

  /** The code of a shell that cannot continue, after saying why. */
  #failure(error: unknown, streams: Streams): number {
    if (error instanceof BrokenPipe) return EXIT_BROKEN_PIPE;
    // The engine's own bound on strings, arrays and its stack is the last one; ours come first.
    const known = error instanceof RangeError ? outOfMemory() : error;
    const text = messageOf(known);
    try {
      streams.err(known instanceof ReasonError && text.startsWith('sh: ') ? `${text}\n` : `sh: ${text}\n`);
    } catch (cause) {
      if (!(cause instanceof BrokenPipe || cause instanceof LimitError)) throw cause;
    }
    return known instanceof LimitError && known.reason === 'TooManyArguments'
      ? EXIT_CANNOT_EXECUTE
      : EXIT_SHELL_ERROR;
  }

  async #node(node: Node, streams: Streams): Promise<number> {
    await this.#step(streams);
    switch (node.node) {
      case 'list': {
        let status = 0;
        for (const item of node.items) status = this.#status = await this.#node(item, streams);
        return status;
      }
      case 'and-or': {
        let status = (this.#status = await this.#node(node.first, streams));
        for (const { isAnd, command } of node.rest)
          if ((status === 0) === isAnd) status = this.#status = await this.#node(command, streams);
        return status;
      }
      case 'pipeline':
        return this.#pipeline(node.commands, node.isNegated, streams);
      case 'loop':
        return this.#repeat(
          async () => {
            const status = await this.#node(node.condition, streams);
            return (status === 0) !== node.until;
          },
          node.body,
          streams,
        );
      case 'for': {
        const values = await this.#fields(node.words, streams);
        return this.#repeat(
          () => {
            const value = values.shift();
            if (value !== undefined) this.#assign(node.name, value);
            return Promise.resolve(value !== undefined);
          },
          node.body,
          streams,
        );
      }
      case 'if':
        for (const branch of node.branches)
          if ((await this.#node(branch.condition, streams)) === 0) return this.#node(branch.body, streams);
        return node.otherwise ? this.#node(node.otherwise, streams) : 0;
      case 'simple':
        return this.#simple(node, streams);
    }
  }

  async #step(streams: Streams): Promise<void> {
    const { signal, host } = this.#options;
    if (signal.aborted) throw new Killed('killed');
    const action = host.isInit ? host.signals?.take() : undefined;
    if (action !== undefined) await this.#node(parseScript(action), streams);
    await host.budget.step(signal);
    await streams.ready?.();
    if (signal.aborted) throw new Killed('killed');
  }

  /** Sets a variable; LimitError when the shell has too many or the container holds too much. */
  #assign(name: string, value: string): void {
    const before = this.#environment.get(name);
    if (before === undefined && this.#environment.size >= VARIABLES_MAX) throw outOfMemory();
    const growth = bounded(value).length - (before?.length ?? 0);
    this.#options.host.budget.take(growth);
    this.#grown += growth;
    this.#environment.set(name, value);
  }

  async #repeat(goesOn: () => Promise<boolean>, body: Node, streams: Streams): Promise<number> {
    let status = 0;
    while (await goesOn()) {
      try {
        status = this.#status = await this.#node(body, streams);
      } catch (error) {
        if (!(error instanceof LoopControl)) throw error;
        if (error.kind === 'break') return 0;
      }
    }
    return status;
  }

  async #pipeline(commands: readonly Node[], isNegated: boolean, streams: Streams): Promise<number> {
    const { budget } = this.#options.host;
    let { input } = streams;
    const exit = budget.fork(commands.length - 1);
    const running = commands.map((command, index) => {
      const isLast = index === commands.length - 1;
      const pipe = isLast ? undefined : new Pipe(budget);
      const own = input;
      if (pipe) input = pipe;
      const outputs = pipe ? { out: (text: string) => pipe.write(text), ready: () => pipe.ready() } : {};
      const run = this.#node(command, { ...streams, input: own, ...outputs });
      const settled = run.catch((error: unknown) => {
        if (error instanceof BrokenPipe) return EXIT_BROKEN_PIPE;
        // Every stage is a process of its own: `exit` in one ends that one.
        if (error instanceof ExitShell && commands.length > 1) return error.code;
        throw error;
      });
      return settled.finally(() => {
        pipe?.end();
        if (own instanceof Pipe && index > 0) own.close();
      });
    });
    // Every stage has ended before the pipeline fails: none may continue unseen.
    const settled = await Promise.allSettled(running);
    exit();
    const failed = settled.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    const last = settled.at(-1);
    const status = last?.status === 'fulfilled' ? last.value : 0;
    return isNegated ? Number(status === 0) : status;
  }

  async #simple(node: Extract<Node, { node: 'simple' }>, streams: Streams): Promise<number> {
    const argv = await this.#fields(node.words, streams);
    const values: [string, string][] = [];
    for (const { name, value } of node.assignments) values.push([name, await this.#text(value, streams)]);
    if (argv.length === 0) for (const [name, value] of values) this.#assign(name, value);
    try {
      const targets: string[] = [];
      for (const { target } of node.redirects) targets.push(await this.#text(target, streams));
      const redirected = redirect(node.redirects, targets, streams, {
        host: this.#options.host,
        cwd: this.#cwd,
      });
      const environment =
        values.length === 0 ? this.#environment : new Map([...this.#environment, ...values]);
      try {
        return argv.length === 0 ? 0 : await this.#execute(argv, redirected.streams, environment);
      } finally {
        redirected.close();
      }
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      streams.err(`sh: ${error.message}\n`);
      return 1;
    }
  }

  async #fields(words: readonly Word[], streams: Streams): Promise<string[]> {
    const fields: string[] = [];
    let characters = 0;
    const add = (field: string): void => {
      characters += field.length;
      if (fields.length >= ARGUMENTS_MAX || characters > ARGUMENTS_CHARACTERS_MAX) throw tooManyArguments();
      fields.push(field);
    };
    for (const word of words) {
      const splits = word.some((part) => !part.isQuoted && part.part !== 'text');
      const text = await this.#text(word, streams);
      if (splits) {
        for (const [field] of text.matchAll(/\S+/g)) add(field);
      } else if (text !== '' || word.some((part) => part.isQuoted)) add(text);
    }
    return fields;
  }

  async #text(word: Word, streams: Streams): Promise<string> {
    let text = '';
    for (const part of word) {
      if (part.part === 'text') text += part.text;
      else if (part.part === 'variable') text += this.#variable(part.name) ?? part.fallback ?? '';
      else if (part.part === 'arithmetic')
        text += String(evaluateArithmetic(part.expression, (name) => this.#variable(name)));
      else text += await this.#substitute(part.script, streams);
      bounded(text);
    }
    this.#options.host.budget.charge(text.length);
    return text;
  }

  #variable(name: string): string | undefined {
    const parameters = this.#options.parameters ?? [];
    if (name === '?') return String(this.#status);
    if (name === '$') return '1';
    if (name === '#') return String(Math.max(0, parameters.length - 1));
    if (name === '@' || name === '*') return parameters.slice(1).join(' ');
    if (/^\d$/.test(name)) return parameters[Number(name)];
    return this.#environment.get(name);
  }

  async #substitute(script: string, streams: Streams): Promise<string> {
    const { budget } = this.#options.host;
    const inner = this.#inner({});
    const exit = budget.fork();
    let output = '';
    try {
      const out = (text: string): void => {
        bounded(text);
        budget.take(text.length);
        output += text;
        bounded(output);
      };
      const { code } = await inner.run(script, { input: streams.input, err: streams.err, out });
      this.#status = code;
      return withoutLastNewlines(output);
    } finally {
      budget.give(output.length);
      inner.dispose();
      exit();
    }
  }

  #inner(options: Partial<ShellOptions>): Shell {
    return new Shell({
      ...this.#options,
      environment: this.#environment,
      cwd: this.#cwd,
      ...options,
      depth: (this.#options.depth ?? 0) + 1,
    });
  }

  async #execute(
    argv: readonly string[],
    streams: Streams,
    environment: Map<string, string>,
  ): Promise<number> {
    const first = argv.findIndex((word, index) => word !== 'command' || argv[index + 1] === '-v');
    if (first < 0) return 0;
    const [path = '', ...args] = argv.slice(first);
    const name = commandName(path);
    const builtin = await this.#builtin(name, args, streams, environment);
    if (builtin !== undefined) return builtin;
    const command = commandNamed(name);
    if (!command) {
      streams.err(`sh: ${path}: not found\n`);
      return EXIT_NOT_FOUND;
    }
    const process: Process = {
      ...streams,
      host: this.#options.host,
      args,
      environment,
      cwd: this.#cwd,
      signal: this.#options.signal,
      isTerminal: this.#options.isTerminal ?? false,
    };
    try {
      return await command(process);
    } catch (error) {
      if (error instanceof Killed || error instanceof BrokenPipe) throw error;
      streams.err(`${name}: ${messageOf(error)}\n`);
      return 1;
    }
  }

  async #builtin(
    name: string,
    args: readonly string[],
    streams: Streams,
    environment: Map<string, string>,
  ): Promise<number | undefined> {
    switch (name) {
      case 'exit':
        throw new ExitShell(args[0] === undefined ? this.#status : Number(args[0]) & 255);
      case 'break':
      case 'continue':
        throw new LoopControl(name);
      case 'trap':
        return this.#trap(args);
      case ':':
      case 'set':
      case 'wait':
        return 0;
      case 'exec': {
        const first = args.findIndex((word) => word !== 'exec');
        if (first < 0) return 0;
        throw new ExitShell(await this.#execute(args.slice(first), streams, environment));
      }
      case 'command':
        return findCommand(args[1] ?? '', streams);
      case 'cd': {
        const path = resolvePath({ cwd: this.#cwd }, args[0] ?? this.#environment.get('HOME') ?? '/root');
        if (!this.#options.host.fileSystem.isDirectory(path)) {
          streams.err(`sh: cd: can't cd to ${args[0] ?? path}: No such file or directory\n`);
          return 1;
        }
        this.#cwd = path;
        return 0;
      }
      case 'export':
        for (const arg of args) {
          const [key = '', ...value] = arg.split('=');
          if (arg.includes('=')) this.#assign(key, value.join('='));
        }
        return 0;
      case 'unset':
        for (const arg of args) this.#environment.delete(arg);
        return 0;
      case 'read': {
        const line = await streams.input.readLine();
        if (line === undefined) return 1;
        this.#assign(args.at(-1) ?? 'REPLY', line);
        return 0;
      }
      case 'sh':
      case 'ash':
      case 'bash':
        return this.#subshell(args, streams, environment);
      default:
        return undefined;
    }
  }

  /** Traps of the first process alone: others are killed with their container. */
  #trap(args: readonly string[]): number {
    const { host } = this.#options;
    if (!host.isInit || args.length < 2) return 0;
    const [action = '', ...names] = args;
    for (const name of names) host.signals?.trap(signalName(name), action === '-' ? undefined : action);
    return 0;
  }

  async #subshell(
    args: readonly string[],
    streams: Streams,
    environment: Map<string, string>,
  ): Promise<number> {
    const scriptAt = args.findIndex((arg) => /^-[a-z]*c$/.test(arg));
    // The words after the script are `$0`, `$1` and so on.
    const given = scriptAt < 0 ? [] : args.slice(scriptAt + 2);
    const parameters = given.length > 0 ? given : ['sh'];
    const inner = this.#inner({ environment, parameters });
    const exit = this.#options.host.budget.fork();
    try {
      if (scriptAt >= 0) return (await inner.run(args[scriptAt + 1] ?? '', streams)).code;
      const file = args.find((arg) => !arg.startsWith('-'));
      if (file === undefined) return await inner.prompt(streams);
      const script = readText(this.#options, resolvePath({ cwd: this.#cwd }, file));
      return (await inner.run(script, streams)).code;
    } finally {
      inner.dispose();
      exit();
    }
  }

  /** Reads commands until the input ends; a prompt is shown only to a terminal. */
  async prompt(streams: Streams): Promise<number> {
    const mark = this.#options.host.user.uid === 0 ? '#' : '$';
    for (;;) {
      if (this.#options.signal.aborted) return EXIT_KILLED;
      if (this.#options.isTerminal) streams.out(`${this.#cwd === '/root' ? '~' : this.#cwd} ${mark} `);
      const line = await streams.input.readLine();
      if (line === undefined) return this.#status;
      await this.#step(streams);
      const { code, isExit } = await this.run(line, streams);
      if (isExit) return code;
    }
  }
}
