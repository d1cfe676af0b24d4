import type { Token } from './tokens.ts';

/** Keywords of the grammar; other reserved words are identifiers that may not be used as names of variables. */
const KEYWORDS = new Set(['true', 'false', 'null', 'in']);

/** What may begin an operand, in the order in which upstream's generated parser lists it; `%` marks where more fits. */
const OPERAND_LIST =
  "{'[',%] '{',%} '(',%) '.',%, '-', '!',%? 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
const OPERAND_SYMBOLS = new Set(['[', '{', '(', '.', '-', '!']);
const BINARY_OPERATORS = new Set('== != < <= > >= && || + - * / % ?'.split(' '));
const SELECTIONS = new Set(['.', '[']);

/** The expected tokens of an operand, where any of some symbols may stand as well. */
const operandList = (also: readonly string[]): string =>
  OPERAND_LIST.replace(/%(.)/g, (_found, symbol: string) => (also.includes(symbol) ? ` '${symbol}',` : ''));

/** Ends parsing at a place from which upstream's parser does not recover either. */
export class SyntaxFailure extends Error {
  override readonly name = 'SyntaxFailure';
}

const shown = (token: Token): string =>
  `'${token.text.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')}'`;

const isOperandStart = (token: Token): boolean =>
  token.kind === 'symbol'
    ? OPERAND_SYMBOLS.has(token.text)
    : token.kind !== 'end' && token.kind !== 'escaped-identifier' && token.text !== 'in';

const isOneOf = (token: Token, symbols: readonly string[]): boolean =>
  token.kind === 'end' ? symbols.includes('<EOF>') : token.kind === 'symbol' && symbols.includes(token.text);

/**
 * The tokens of one expression with a place in them. Errors are told as upstream's generated parser tells them: a
 * token too many is skipped, a missing one is assumed, and nothing more is said until a token fits again.
 */
export class TokenStream {
  #at = 0;
  #isRecovering = false;
  /** What may end the constructs around the current place, the innermost last. */
  readonly #closers: (readonly string[])[] = [['<EOF>']];
  readonly tokens: readonly Token[];
  readonly text: string;
  readonly #report: (offset: number, message: string) => void;

  constructor(tokens: readonly Token[], text: string, report: (offset: number, message: string) => void) {
    this.tokens = tokens;
    this.text = text;
    this.#report = report;
  }

  get current(): Token {
    return this.tokens[this.#at]!;
  }
  peek(ahead: number): Token {
    return this.tokens[Math.min(this.#at + ahead, this.tokens.length - 1)]!;
  }
  advance(): Token {
    const token = this.current;
    this.#isRecovering = false;
    if (token.kind !== 'end') this.#at++;
    return token;
  }

  isSymbol(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    return token.kind === 'symbol' && token.text === text;
  }
  isKeyword(text: string): boolean {
    return this.current.kind === 'identifier' && this.current.text === text && KEYWORDS.has(text);
  }
  isIdentifier(ahead = 0): boolean {
    const token = this.peek(ahead);
    return token.kind === 'identifier' && !KEYWORDS.has(token.text);
  }
  accept(text: string): Token | undefined {
    return this.isSymbol(text) ? this.advance() : undefined;
  }

  /** Runs `parse` inside a construct that one of the symbols ends. */
  within<T>(closers: readonly string[], parse: () => T): T {
    this.#closers.push(closers);
    const result = parse();
    this.#closers.pop();
    return result;
  }

  error(message: string, offset = this.current.offset): void {
    if (!this.#isRecovering) this.#report(offset, message);
    this.#isRecovering = true;
  }

  /** The symbol, which nothing else can take the place of. */
  expect(symbol: string): Token {
    const found = this.accept(symbol);
    if (found !== undefined) return found;
    const { current } = this;
    if (this.#skipExtra([symbol], `'${symbol}'`)) return this.advance();
    if (!this.#mayFollow(symbol))
      return this.fail(`mismatched input ${shown(current)} expecting '${symbol}'`);
    this.error(`missing '${symbol}' at ${shown(current)}`);
    return current;
  }

  /** Makes sure that one of the symbols is next. */
  expectOneOf(symbols: readonly string[]): void {
    if (isOneOf(this.current, symbols)) return;
    const expected = `{${symbols.map((symbol) => `'${symbol}'`).join(', ')}}`;
    if (!this.#skipExtra(symbols, expected))
      this.fail(`mismatched input ${shown(this.current)} expecting ${expected}`);
  }

  /** Skips one token if what is wanted comes right behind it. */
  #skipExtra(wanted: readonly string[], expected: string): boolean {
    if (this.current.kind === 'end' || !isOneOf(this.peek(1), wanted)) return false;
    this.error(`extraneous input ${shown(this.current)} expecting ${expected}`);
    this.advance();
    return true;
  }

  /** Whether the current token fits if the symbol stood before it. */
  #mayFollow(symbol: string): boolean {
    if (symbol === ':') return isOperandStart(this.current);
    return isOneOf(this.current, this.#closers.at(-1)!);
  }

  expectIdentifier(dot: Token): Token | undefined {
    if (this.isIdentifier()) return this.advance();
    const { current } = this;
    const end = current.kind === 'end' ? current.offset : current.offset + current.text.length;
    if (current.kind === 'identifier' && current.text !== 'in')
      this.error(`mismatched input ${shown(current)} expecting IDENTIFIER`);
    else
      this.error(
        `no viable alternative at input ${shown({ ...current, text: this.text.slice(dot.offset, end) })}`,
      );
    this.#skipToFollow(true);
    return undefined;
  }

  expectEnd(): void {
    const { current } = this;
    if (current.kind === 'end') return;
    const isOnly = this.peek(1).kind === 'end';
    this.error(`${isOnly ? 'extraneous' : 'mismatched'} input ${shown(current)} expecting <EOF>`);
  }

  /** Says that no operand begins here. True if one begins behind a token that was skipped. */
  missingOperand(also: readonly string[] = []): boolean {
    const { current } = this;
    const next = this.peek(1);
    if (current.kind !== 'end' && (isOperandStart(next) || isOneOf(next, also))) {
      this.error(`extraneous input ${shown(current)} expecting ${operandList(also)}`);
      this.advance();
      return isOperandStart(this.current);
    }
    this.error(`mismatched input ${shown(current)} expecting ${operandList(also)}`);
    this.#skipToFollow();
    return false;
  }

  /** The operand of `!`, which upstream skips to. */
  operandAfterNot(): void {
    if (isOperandStart(this.current)) return;
    this.error(`extraneous input ${shown(this.current)} expecting ${operandList([])}`);
    if (this.current.kind !== 'end') this.#at++;
  }

  /** The operand of `-`. */
  operandAfterMinus(minus: Token): void {
    const { current } = this;
    if (isOperandStart(current) && current.text !== '!') return;
    const end = current.kind === 'end' ? current.offset : current.offset + current.text.length;
    this.error(
      `no viable alternative at input ${shown({ ...current, text: this.text.slice(minus.offset, end) })}`,
    );
    if (current.text === '!') this.#skipToFollow();
    else this.#isRecovering = false;
  }

  isOperandStart(): boolean {
    return isOperandStart(this.current);
  }

  fail(message: string): never {
    this.error(message);
    throw new SyntaxFailure(message);
  }

  /** Skips what cannot continue the expression. */
  #skipToFollow(isSelecting = false): void {
    const closers = this.#closers.flat();
    while (this.current.kind !== 'end') {
      const { kind, text } = this.current;
      const isSelection = isSelecting && SELECTIONS.has(text);
      const isOperator = kind === 'symbol' ? isSelection || BINARY_OPERATORS.has(text) : text === 'in';
      if (isOperator || isOneOf(this.current, closers)) return;
      this.#at++;
    }
  }
}
