import { messageOf, ReasonError } from '../../../../base/errors.ts';
import { COMMANDS } from './commands.ts';
import { FileError } from './file-system.ts';
import { parseScript } from './parser.ts';
import { BrokenPipe, Pipe } from './pipe.ts';
import { commandName, Killed, resolvePath, type Process, type ShellHost, type Streams } from './process.ts';
import type { Node, Redirect, Word } from './syntax.ts';

/** A loop gives the event loop its turn this often. */
const STEPS_PER_TURN = 64;
export const EXIT_NOT_FOUND = 127;
export const EXIT_KILLED = 137;
const EXIT_BROKEN_PIPE = 141;

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
}

const SHELLS = ['sh', 'ash', 'bash'];

/** `command -v`: where a program is, or the code that says that it is nowhere. */
const findCommand = (name: string, streams: Streams): number => {
  if (!SHELLS.includes(name) && !COMMANDS[name]) return EXIT_NOT_FOUND;
  streams.out(`/bin/${name}\n`);
  return 0;
};

/** The state of one shell: variables, folder, last status. `run` may be called again and again, as a prompt does. */
export class Shell {
  readonly #options: ShellOptions;
  readonly #environment: Map<string, string>;
  #cwd: string;
  #status = 0;
  #steps = 0;

  constructor(options: ShellOptions) {
    this.#options = options;
    this.#environment = new Map(options.environment);
    this.#cwd = options.cwd ?? '/';
  }

  get cwd(): string {
    return this.#cwd;
  }

  /** The exit code of a script; `exit` is told apart for a prompt that has to end. */
  async run(script: string, streams: Streams): Promise<{ readonly code: number; readonly isExit: boolean }> {
    try {
      this.#status = await this.#node(parseScript(script), streams);
      return { code: this.#status, isExit: false };
    } catch (error) {
      if (error instanceof ExitShell) return { code: error.code, isExit: true };
      if (error instanceof Killed) return { code: EXIT_KILLED, isExit: true };
      if (error instanceof BrokenPipe) return { code: EXIT_BROKEN_PIPE, isExit: false };
      if (error instanceof LoopControl) return { code: 0, isExit: false };
      if (!(error instanceof ReasonError)) throw error;
      streams.err(`${error.message}\n`);
      this.#status = 2;
      return { code: 2, isExit: false };
    }
  }

  /** One command with its arguments as they are: no shell language in between. */
  async runCommand(argv: readonly string[], streams: Streams): Promise<number> {
    try {
      return await this.#execute(argv, streams, this.#environment);
    } catch (error) {
      if (error instanceof ExitShell) return error.code;
      if (error instanceof Killed) return EXIT_KILLED;
      if (error instanceof BrokenPipe) return EXIT_BROKEN_PIPE;
      throw error;
    }
  }

  async #node(node: Node, streams: Streams): Promise<number> {
    await this.#step();
    switch (node.node) {
      case 'list': {
        let status = 0;
        for (const item of node.items) status = this.#status = await this.#node(item, streams);
        return status;
      }
      case 'and':
      case 'or': {
        const left = (this.#status = await this.#node(node.left, streams));
        return (left === 0) === (node.node === 'and') ? this.#node(node.right, streams) : left;
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
            if (value !== undefined) this.#environment.set(node.name, value);
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

  async #step(): Promise<void> {
    this.#steps += 1;
    if (this.#options.signal.aborted) throw new Killed('killed');
    if (this.#steps % STEPS_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve));
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
    let { input } = streams;
    const running = commands.map((command, index) => {
      const isLast = index === commands.length - 1;
      const pipe = isLast ? undefined : new Pipe();
      const own = input;
      if (pipe) input = pipe;
      const out = pipe ? (text: string) => pipe.write(text) : streams.out;
      const run = this.#node(command, { input: own, out, err: streams.err });
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
    const status = (await Promise.all(running)).at(-1) ?? 0;
    return isNegated ? Number(status === 0) : status;
  }

  async #simple(node: Extract<Node, { node: 'simple' }>, streams: Streams): Promise<number> {
    const argv = await this.#fields(node.words, streams);
    const values: [string, string][] = [];
    for (const { name, value } of node.assignments) values.push([name, await this.#text(value, streams)]);
    if (argv.length === 0) for (const [name, value] of values) this.#environment.set(name, value);
    try {
      const redirected = await this.#redirect(node.redirects, streams);
      const environment =
        values.length === 0 ? this.#environment : new Map([...this.#environment, ...values]);
      const status = argv.length === 0 ? 0 : await this.#execute(argv, redirected.streams, environment);
      redirected.close();
      return status;
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      streams.err(`sh: ${error.message}\n`);
      return 1;
    }
  }

  async #redirect(
    redirects: readonly Redirect[],
    streams: Streams,
  ): Promise<{ readonly streams: Streams; close(): void }> {
    let result = streams;
    const closers: (() => void)[] = [];
    const files = this.#options.host.fileSystem;
    for (const { operator, descriptor, target } of redirects) {
      const name = await this.#text(target, streams);
      if (operator === '>&') {
        const write = name === '2' ? result.err : result.out;
        result = descriptor === 2 ? { ...result, err: write } : { ...result, out: write };
        continue;
      }
      const path = resolvePath({ cwd: this.#cwd }, name);
      if (operator === '<') {
        const pipe = new Pipe();
        pipe.write(Buffer.from(files.read(path)).toString());
        pipe.end();
        result = { ...result, input: pipe };
        continue;
      }
      const before = operator === '>>' && files.exists(path) ? Buffer.from(files.read(path)).toString() : '';
      const chunks = [before];
      files.write(path, Buffer.from(before));
      const write = (text: string): void => void chunks.push(text);
      closers.push(() => files.write(path, Buffer.from(chunks.join(''))));
      result = descriptor === 2 ? { ...result, err: write } : { ...result, out: write };
    }
    return { streams: result, close: () => closers.forEach((close) => close()) };
  }

  async #fields(words: readonly Word[], streams: Streams): Promise<string[]> {
    const fields: string[] = [];
    for (const word of words) {
      const splits = word.some((part) => !part.isQuoted && part.part !== 'text');
      const text = await this.#text(word, streams);
      if (splits) fields.push(...text.split(/\s+/).filter((field) => field !== ''));
      else if (text !== '' || word.some((part) => part.isQuoted)) fields.push(text);
    }
    return fields;
  }

  async #text(word: Word, streams: Streams): Promise<string> {
    let text = '';
    for (const part of word) {
      if (part.part === 'text') text += part.text;
      else if (part.part === 'variable') text += this.#variable(part.name) ?? part.fallback ?? '';
      else if (part.part === 'arithmetic') text += String(this.#arithmetic(part.expression));
      else text += await this.#substitute(part.script, streams);
    }
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
    let output = '';
    const inner = new Shell({ ...this.#options, environment: this.#environment, cwd: this.#cwd });
    const { code } = await inner.run(script, { ...streams, out: (text) => (output += text) });
    this.#status = code;
    return output.replace(/\n+$/, '');
  }

  /** Sums and products of integers and variables, which is what counters in scripts need. */
  #arithmetic(expression: string): number {
    const tokens = expression.match(/\d+|[A-Za-z_]\w*|[-+*/%()]/g) ?? [];
    let at = 0;
    const atom = (): number => {
      const token = tokens[at++] ?? '0';
      if (token === '(') {
        const value = sum();
        at += 1;
        return value;
      }
      if (token === '-') return -atom();
      return /^\d/.test(token) ? Number(token) : Number(this.#variable(token) ?? 0) || 0;
    };
    const product = (): number => {
      let value = atom();
      while (['*', '/', '%'].includes(tokens[at] ?? '')) {
        const operator = tokens[at++];
        const right = atom();
        if (operator === '*') value *= right;
        else if (right === 0) throw new ReasonError('SyntaxError', 'sh: divide by zero');
        else value = operator === '/' ? Math.trunc(value / right) : value % right;
      }
      return value;
    };
    const sum = (): number => {
      let value = product();
      while (tokens[at] === '+' || tokens[at] === '-') value += tokens[at++] === '+' ? product() : -product();
      return value;
    };
    return sum();
  }

  async #execute(
    argv: readonly string[],
    streams: Streams,
    environment: Map<string, string>,
  ): Promise<number> {
    const [path = '', ...args] = argv;
    const name = commandName(path);
    const builtin = await this.#builtin(name, args, streams, environment);
    if (builtin !== undefined) return builtin;
    const command = COMMANDS[name];
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
      case ':':
      case 'set':
      case 'trap':
      case 'wait':
        return 0;
      case 'exec':
        if (args.length === 0) return 0;
        throw new ExitShell(await this.#execute(args, streams, environment));
      case 'command':
        if (args[0] !== '-v') return args.length === 0 ? 0 : this.#execute(args, streams, environment);
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
          if (arg.includes('=')) this.#environment.set(key, value.join('='));
        }
        return 0;
      case 'unset':
        for (const arg of args) this.#environment.delete(arg);
        return 0;
      case 'read': {
        const line = await streams.input.readLine();
        if (line === undefined) return 1;
        this.#environment.set(args.at(-1) ?? 'REPLY', line);
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

  async #subshell(
    args: readonly string[],
    streams: Streams,
    environment: Map<string, string>,
  ): Promise<number> {
    const scriptAt = args.findIndex((arg) => /^-[a-z]*c$/.test(arg));
    // The words after the script are `$0`, `$1` and so on.
    const given = scriptAt < 0 ? [] : args.slice(scriptAt + 2);
    const parameters = given.length > 0 ? given : ['sh'];
    const inner = new Shell({ ...this.#options, environment, cwd: this.#cwd, parameters });
    if (scriptAt >= 0) return (await inner.run(args[scriptAt + 1] ?? '', streams)).code;
    const file = args.find((arg) => !arg.startsWith('-'));
    if (file !== undefined) {
      const script = this.#options.host.fileSystem.read(resolvePath({ cwd: this.#cwd }, file));
      return (await inner.run(Buffer.from(script).toString(), streams)).code;
    }
    return inner.prompt(streams);
  }

  /** Reads commands until the input ends; a prompt is shown only to a terminal. */
  async prompt(streams: Streams): Promise<number> {
    const mark = this.#options.host.user.uid === 0 ? '#' : '$';
    for (;;) {
      if (this.#options.signal.aborted) return EXIT_KILLED;
      if (this.#options.isTerminal) streams.out(`${this.#cwd === '/root' ? '~' : this.#cwd} ${mark} `);
      const line = await streams.input.readLine();
      if (line === undefined) return this.#status;
      const { code, isExit } = await this.run(line, streams);
      if (isExit) return code;
    }
  }
}
