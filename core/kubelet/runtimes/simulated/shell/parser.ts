import { ReasonError } from '../../../../base/errors.ts';
import { NESTING_MAX } from './limits.ts';
import { syntaxError, tokenize, type Node, type Redirect, type Token, type Word } from './syntax.ts';

const DESCRIPTORS: Readonly<Record<string, 0 | 1 | 2>> = { '<': 0, '>': 1, '>>': 1, '>&': 1 };
const RESERVED = new Set(['then', 'else', 'elif', 'fi', 'do', 'done', '}']);

/** Recursive descent over the part of the shell's grammar that one-line commands of manifests use. */
class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  program(): Node {
    const list = this.#list();
    const rest = this.#peek();
    if (rest) throw syntaxError(rest.token === 'operator' ? rest.text : (rest.keyword ?? 'word'));
    return list;
  }

  #peek(): Token | undefined {
    return this.#tokens[this.#at];
  }

  #isOperator(...texts: readonly string[]): boolean {
    const token = this.#peek();
    return token?.token === 'operator' && token.descriptor === undefined && texts.includes(token.text);
  }

  #isKeyword(...words: readonly string[]): boolean {
    const token = this.#peek();
    return token?.token === 'word' && token.keyword !== undefined && words.includes(token.keyword);
  }

  #expectKeyword(word: string): void {
    if (!this.#isKeyword(word)) throw syntaxError(this.#textOfNext());
    this.#at += 1;
  }

  #textOfNext(): string {
    const token = this.#peek();
    if (!token) return 'end of file';
    return token.token === 'operator' ? token.text : (token.keyword ?? 'word');
  }

  #list(): Node {
    const items: Node[] = [];
    for (;;) {
      // A job in the background runs in the foreground here: a simulated container has one process.
      while (this.#isOperator(';', '&')) this.#at += 1;
      const token = this.#peek();
      if (!token || this.#isOperator(')')) break;
      if (token.token === 'word' && token.keyword !== undefined && RESERVED.has(token.keyword)) break;
      items.push(this.#andOr());
    }
    return items.length === 1 ? items[0]! : { node: 'list', items };
  }

  #andOr(): Node {
    const first = this.#pipeline();
    const rest: { isAnd: boolean; command: Node }[] = [];
    while (this.#isOperator('&&', '||')) {
      const isAnd = this.#isOperator('&&');
      this.#at += 1;
      while (this.#isOperator(';')) this.#at += 1;
      rest.push({ isAnd, command: this.#pipeline() });
    }
    return rest.length === 0 ? first : { node: 'and-or', first, rest };
  }

  #pipeline(): Node {
    const isNegated = this.#isKeyword('!');
    if (isNegated) this.#at += 1;
    const commands = [this.#command()];
    while (this.#isOperator('|')) {
      this.#at += 1;
      commands.push(this.#command());
    }
    return commands.length === 1 && !isNegated ? commands[0]! : { node: 'pipeline', commands, isNegated };
  }

  #command(): Node {
    this.#depth += 1;
    if (this.#depth > NESTING_MAX)
      throw new ReasonError('SyntaxError', 'sh: syntax error: nested too deeply');
    const command = this.#commandAt();
    this.#depth -= 1;
    return command;
  }

  #commandAt(): Node {
    if (this.#isKeyword('while', 'until')) return this.#loop();
    if (this.#isKeyword('for')) return this.#for();
    if (this.#isKeyword('if')) return this.#if();
    if (this.#isKeyword('{')) return this.#group(() => this.#expectKeyword('}'));
    if (this.#isOperator('('))
      return this.#group(() => {
        if (!this.#isOperator(')')) throw syntaxError(this.#textOfNext());
        this.#at += 1;
      });
    return this.#simple();
  }

  #group(close: () => void): Node {
    this.#at += 1;
    const list = this.#list();
    close();
    return list;
  }

  #loop(): Node {
    const until = this.#isKeyword('until');
    this.#at += 1;
    const condition = this.#list();
    return { node: 'loop', until, condition, body: this.#doBody() };
  }

  #doBody(): Node {
    this.#expectKeyword('do');
    const body = this.#list();
    this.#expectKeyword('done');
    return body;
  }

  #for(): Node {
    this.#at += 1;
    const name = this.#peek();
    const [part] = name?.token === 'word' ? name.word : [];
    if (part?.part !== 'text') throw syntaxError(this.#textOfNext());
    this.#at += 1;
    const words: Word[] = [];
    if (this.#isKeyword('in')) {
      this.#at += 1;
      for (let token = this.#peek(); token?.token === 'word'; token = this.#peek()) {
        words.push(token.word);
        this.#at += 1;
      }
    }
    while (this.#isOperator(';')) this.#at += 1;
    return { node: 'for', name: part.text, words, body: this.#doBody() };
  }

  #if(): Node {
    const branches: { condition: Node; body: Node }[] = [];
    do {
      this.#at += 1;
      const condition = this.#list();
      this.#expectKeyword('then');
      branches.push({ condition, body: this.#list() });
    } while (this.#isKeyword('elif'));
    const hasElse = this.#isKeyword('else');
    if (hasElse) this.#at += 1;
    const otherwise = hasElse ? this.#list() : undefined;
    this.#expectKeyword('fi');
    return { node: 'if', branches, otherwise };
  }

  #simple(): Node {
    const assignments: { name: string; value: Word }[] = [];
    const words: Word[] = [];
    const redirects: Redirect[] = [];
    for (let token = this.#peek(); token; token = this.#peek()) {
      if (token.token === 'operator') {
        const descriptor = DESCRIPTORS[token.text];
        if (descriptor === undefined) break;
        redirects.push(this.#redirect(token.text as Redirect['operator'], token.descriptor ?? descriptor));
        continue;
      }
      this.#at += 1;
      const assignment = words.length === 0 ? readAssignment(token.word) : undefined;
      if (assignment) assignments.push(assignment);
      else words.push(token.word);
    }
    if (assignments.length + words.length + redirects.length === 0) throw syntaxError(this.#textOfNext());
    return { node: 'simple', assignments, words, redirects };
  }

  #redirect(operator: Redirect['operator'], descriptor: number): Redirect {
    this.#at += 1;
    const target = this.#peek();
    if (target?.token !== 'word') throw syntaxError(this.#textOfNext());
    this.#at += 1;
    return { operator, descriptor: descriptor as 0 | 1 | 2, target: target.word };
  }
}

const readAssignment = (word: Word): { name: string; value: Word } | undefined => {
  const [first, ...rest] = word;
  if (first?.part !== 'text' || first.isQuoted) return undefined;
  const match = /^([A-Za-z_]\w*)=(.*)$/s.exec(first.text);
  if (!match) return undefined;
  return { name: match[1]!, value: [{ part: 'text', text: match[2]!, isQuoted: true }, ...rest] };
};

/** ReasonError `SyntaxError` for what the simulated shell does not understand. */
export const parseScript = (script: string): Node => new Parser(tokenize(script)).program();
