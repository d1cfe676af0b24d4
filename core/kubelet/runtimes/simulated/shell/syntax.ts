import { ReasonError } from '../../../../base/errors.ts';

/** A piece of a word: text as it stands, or something to expand. Unquoted expansions are split into fields. */
export type WordPart =
  | { readonly part: 'text'; readonly text: string; readonly isQuoted: boolean }
  | {
      readonly part: 'variable';
      readonly name: string;
      readonly fallback: string | undefined;
      readonly isQuoted: boolean;
    }
  | { readonly part: 'command'; readonly script: string; readonly isQuoted: boolean }
  | { readonly part: 'arithmetic'; readonly expression: string; readonly isQuoted: boolean };
export type Word = readonly WordPart[];

export interface Redirect {
  readonly operator: '>' | '>>' | '<' | '>&';
  readonly descriptor: 0 | 1 | 2;
  readonly target: Word;
}

export type Node =
  | {
      readonly node: 'simple';
      readonly assignments: readonly { readonly name: string; readonly value: Word }[];
      readonly words: readonly Word[];
      readonly redirects: readonly Redirect[];
    }
  | { readonly node: 'pipeline'; readonly commands: readonly Node[]; readonly isNegated: boolean }
  | {
      readonly node: 'and-or';
      readonly first: Node;
      readonly rest: readonly { readonly isAnd: boolean; readonly command: Node }[];
    }
  | { readonly node: 'list'; readonly items: readonly Node[] }
  | { readonly node: 'loop'; readonly until: boolean; readonly condition: Node; readonly body: Node }
  | { readonly node: 'for'; readonly name: string; readonly words: readonly Word[]; readonly body: Node }
  | {
      readonly node: 'if';
      readonly branches: readonly { readonly condition: Node; readonly body: Node }[];
      readonly otherwise: Node | undefined;
    };

export type Token =
  | { readonly token: 'word'; readonly word: Word; readonly keyword: string | undefined }
  | { readonly token: 'operator'; readonly text: string; readonly descriptor?: number };

export const syntaxError = (what: string): ReasonError<'SyntaxError'> =>
  new ReasonError('SyntaxError', `sh: syntax error: unexpected "${what}"`);

export const SCRIPT_CHARACTERS_MAX = 64 * 1024;

/** Blanks of the shell alone: JavaScript counts more characters as white space, which are parts of words here. */
const WORD_ENDS = /[ \t\r\n;&|<>()]/;
const OPERATORS = ['&&', '||', ';;', '>>', '>&', '|', ';', '&', '<', '>', '(', ')'];

/** The text up to the bracket that closes the one before `start`. */
const closing = (text: string, start: number, open: string, close: string): number => {
  let depth = 1;
  for (let i = start; i < text.length; i += 1) {
    if (text[i] === '\\') i += 1;
    else if (text[i] === "'") {
      const end = text.indexOf("'", i + 1);
      i = end < 0 ? text.length : end;
    } else if (text[i] === open) depth += 1;
    else if (text[i] === close) {
      depth -= 1;
      if (depth === 0) return i;
    }
  }
  throw syntaxError('end of file');
};

class Lexer {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  tokens(): Token[] {
    const tokens: Token[] = [];
    for (;;) {
      this.#skipBlanks();
      if (this.#at >= this.#text.length) return tokens;
      tokens.push(this.#newline() ?? this.#operator() ?? this.#word());
    }
  }

  #skipBlanks(): void {
    for (;;) {
      const character = this.#text[this.#at];
      if (character === ' ' || character === '\t' || character === '\r') this.#at += 1;
      else if (character === '\\' && this.#text[this.#at + 1] === '\n') this.#at += 2;
      else if (character === '#') {
        const end = this.#text.indexOf('\n', this.#at);
        this.#at = end < 0 ? this.#text.length : end;
      } else return;
    }
  }

  #newline(): Token | undefined {
    if (this.#text[this.#at] !== '\n') return undefined;
    this.#at += 1;
    return { token: 'operator', text: ';' };
  }

  #operator(): Token | undefined {
    const numbered = /^([012])(>>|>&|>|<)/.exec(this.#text.slice(this.#at, this.#at + 3));
    if (numbered) {
      this.#at += numbered[0].length;
      return { token: 'operator', text: numbered[2]!, descriptor: Number(numbered[1]) };
    }
    const text = OPERATORS.find((operator) => this.#text.startsWith(operator, this.#at));
    if (text === undefined) return undefined;
    this.#at += text.length;
    return { token: 'operator', text };
  }

  #word(): Token {
    const parts: WordPart[] = [];
    const start = this.#at;
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at]!;
      if (WORD_ENDS.test(character)) break;
      this.#piece(parts, character);
    }
    const raw = this.#text.slice(start, this.#at);
    return { token: 'word', word: parts, keyword: /^[a-z{}!]+$/.test(raw) ? raw : undefined };
  }

  #piece(parts: WordPart[], character: string): void {
    if (character === "'") {
      const end = this.#text.indexOf("'", this.#at + 1);
      if (end < 0) throw syntaxError('end of file');
      parts.push({ part: 'text', text: this.#text.slice(this.#at + 1, end), isQuoted: true });
      this.#at = end + 1;
    } else if (character === '"') this.#quoted(parts);
    else if (character === '\\') {
      parts.push({ part: 'text', text: this.#text[this.#at + 1] ?? '', isQuoted: true });
      this.#at += 2;
    } else if (character === '$' || character === '`') parts.push(this.#expansion(false));
    else {
      const plain = /^[^ \t\r\n;&|<>()'"\\$`]+/.exec(this.#text.slice(this.#at))![0];
      parts.push({ part: 'text', text: plain, isQuoted: false });
      this.#at += plain.length;
    }
  }

  #quoted(parts: WordPart[]): void {
    this.#at += 1;
    parts.push({ part: 'text', text: '', isQuoted: true });
    for (;;) {
      const character = this.#text[this.#at];
      if (character === undefined) throw syntaxError('end of file');
      if (character === '"') break;
      if (character === '$' || character === '`') parts.push(this.#expansion(true));
      else if (character === '\\' && /["\\$`\n]/.test(this.#text[this.#at + 1] ?? '')) {
        const next = this.#text[this.#at + 1]!;
        parts.push({ part: 'text', text: next === '\n' ? '' : next, isQuoted: true });
        this.#at += 2;
      } else {
        parts.push({ part: 'text', text: character, isQuoted: true });
        this.#at += 1;
      }
    }
    this.#at += 1;
  }

  #expansion(isQuoted: boolean): WordPart {
    const rest = this.#text.slice(this.#at);
    if (rest.startsWith('`')) {
      const end = this.#text.indexOf('`', this.#at + 1);
      if (end < 0) throw syntaxError('end of file');
      const script = this.#text.slice(this.#at + 1, end);
      this.#at = end + 1;
      return { part: 'command', script, isQuoted };
    }
    if (rest.startsWith('$((')) {
      const end = this.#text.indexOf('))', this.#at + 3);
      if (end < 0) throw syntaxError('end of file');
      const expression = this.#text.slice(this.#at + 3, end);
      this.#at = end + 2;
      return { part: 'arithmetic', expression, isQuoted };
    }
    if (rest.startsWith('$(')) {
      const end = closing(this.#text, this.#at + 2, '(', ')');
      const script = this.#text.slice(this.#at + 2, end);
      this.#at = end + 1;
      return { part: 'command', script, isQuoted };
    }
    const named = /^\$(?:\{(\w+|\?)(?::?-([^}]*))?\}|([A-Za-z_]\w*|[0-9?$#@*]))/.exec(rest);
    if (!named) {
      this.#at += 1;
      return { part: 'text', text: '$', isQuoted };
    }
    this.#at += named[0].length;
    return { part: 'variable', name: named[1] ?? named[3]!, fallback: named[2], isQuoted };
  }
}

export const tokenize = (script: string): Token[] => {
  if (script.length > SCRIPT_CHARACTERS_MAX)
    throw new ReasonError('SyntaxError', 'sh: the script is too long for a simulated container');
  return new Lexer(script).tokens();
};
