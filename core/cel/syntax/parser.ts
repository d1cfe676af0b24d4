import { COPIED_NODES_MAX, EXPRESSION_CODE_POINTS_MAX, RECURSION_DEPTH_MAX } from '../bounds.ts';
import type { Issues } from '../source/issues.ts';
import { NO_LOCATION, type SourceText, codePointCount } from '../source/text.ts';
import { type Expr, OPERATOR } from './ast.ts';
import { balanced, call, copy, countNodes, ident, literal, nested, select } from './build.ts';
import { CollectionParser } from './collections.ts';
import {
  EscapeError,
  bytesLiteral,
  doubleLiteral,
  intLiteral,
  stringLiteral,
  uintLiteral,
} from './literals.ts';
import { type Macro, MacroError, macroKey } from './macro.ts';
import { SyntaxFailure, TokenStream } from './token-stream.ts';
import { type Token, tokenize } from './tokens.ts';

const RESERVED = new Set(
  'as break const continue else false for function if import in let loop package namespace null return true var void while'.split(
    ' ',
  ),
);

const RELATIONS: Readonly<Record<string, string>> = {
  '<': OPERATOR.less,
  '<=': OPERATOR.lessEquals,
  '>=': OPERATOR.greaterEquals,
  '>': OPERATOR.greater,
  '==': OPERATOR.equals,
  '!=': OPERATOR.notEquals,
};
const FACTORS: Readonly<Record<string, string>> = {
  '*': OPERATOR.multiply,
  '/': OPERATOR.divide,
  '%': OPERATOR.modulo,
};
const SUMS: Readonly<Record<string, string>> = { '+': OPERATOR.add, '-': OPERATOR.subtract };

export interface ParserOptions {
  readonly macros: ReadonlyMap<string, Macro>;
  readonly optionalSyntax: boolean;
}

/** Stops parsing for a reason that concerns the expression as a whole. */
class LimitExceeded extends Error {
  override readonly name = 'LimitExceeded';
}

/** Rules of the grammar whose nesting is counted, each on its own, as upstream's parser does. */
type Rule = 'expr' | 'relation' | 'calc' | 'member';

class Parser {
  readonly #tokens: TokenStream;
  readonly #collections: CollectionParser;
  #hasMissing = false;
  #copiedNodes = 0;
  readonly #depth: Record<Rule, number> = { expr: 0, relation: 0, calc: 0, member: 0 };

  readonly source: SourceText;
  readonly options: ParserOptions;
  readonly issues: Issues;

  constructor(source: SourceText, options: ParserOptions, issues: Issues) {
    this.source = source;
    this.options = options;
    this.issues = issues;
    const tokens = tokenize(source.text, (offset, text) =>
      issues.reportAt(offset, `Syntax error: token recognition error at: '${text}'`),
    );
    this.#tokens = new TokenStream(tokens, source.text, (offset, message) => {
      // Upstream places an error in an empty text before its first column.
      if (source.text === '') issues.report({ line: 1, column: -1 }, `Syntax error: ${message}`);
      else issues.reportAt(offset, `Syntax error: ${message}`);
    });
    this.#collections = new CollectionParser(this.#tokens, {
      expr: () => this.#expr(),
      first: (closers, also) => this.#first(closers, also),
      report: (offset, message) => this.#report(offset, message),
      optionalSyntax: options.optionalSyntax,
    });
  }

  parse(): Expr {
    const expr = this.#expr();
    this.#tokens.expectEnd();
    if (expr.depth > RECURSION_DEPTH_MAX) throw new LimitExceeded('max recursion depth exceeded');
    return expr;
  }

  #enter(rule: Rule, levels = 1): void {
    this.#depth[rule] += levels;
    if (this.#depth[rule] > RECURSION_DEPTH_MAX)
      throw new LimitExceeded(`expression recursion limit exceeded: ${RECURSION_DEPTH_MAX}`);
  }
  #leave(rule: Rule, levels = 1): void {
    this.#depth[rule] -= levels;
  }

  #report(offset: number, message: string): Expr {
    this.issues.reportAt(offset, message);
    return literal(offset, null);
  }

  #expr(): Expr {
    this.#enter('expr');
    const condition = this.#or();
    const question = this.#tokens.accept('?');
    let result = condition;
    if (question !== undefined) {
      const truthy = this.#tokens.within([':'], () => this.#or());
      this.#tokens.expect(':');
      const falsy = this.#expr();
      result = nested(call(question.offset, OPERATOR.conditional, [condition, truthy, falsy]));
    }
    this.#leave('expr');
    return result;
  }

  #or(): Expr {
    return this.#logic('||', OPERATOR.or, () => this.#logic('&&', OPERATOR.and, () => this.#relation(0)));
  }

  #logic(symbol: string, fn: string, term: () => Expr): Expr {
    const first = term();
    if (!this.#tokens.isSymbol(symbol)) return first;
    const terms = [first];
    const offsets: number[] = [];
    for (let op = this.#tokens.accept(symbol); op !== undefined; op = this.#tokens.accept(symbol)) {
      offsets.push(op.offset);
      terms.push(term());
    }
    return balanced(fn, terms, offsets);
  }

  #relationOperator(): string | undefined {
    if (this.#tokens.isKeyword('in')) return OPERATOR.in;
    const { kind, text } = this.#tokens.current;
    return kind === 'symbol' ? RELATIONS[text] : undefined;
  }

  #relation(_precedence: 0 | 1): Expr {
    this.#enter('relation');
    let left = this.#calc(0);
    let pushed = 1;
    if (_precedence === 0)
      for (let fn = this.#relationOperator(); fn !== undefined; fn = this.#relationOperator()) {
        const op = this.#tokens.advance();
        this.#enter('relation');
        pushed++;
        left = nested(call(op.offset, fn, [left, this.#relation(1)]));
      }
    this.#leave('relation', pushed);
    return left;
  }

  #calcOperator(precedence: number): string | undefined {
    const { kind, text } = this.#tokens.current;
    if (kind !== 'symbol') return undefined;
    if (precedence <= 2 && FACTORS[text] !== undefined) return FACTORS[text];
    return precedence <= 1 ? SUMS[text] : undefined;
  }

  #calc(precedence: number): Expr {
    this.#enter('calc');
    let left = this.#unary();
    let pushed = 1;
    for (let fn = this.#calcOperator(precedence); fn !== undefined; fn = this.#calcOperator(precedence)) {
      const op = this.#tokens.advance();
      this.#enter('calc');
      pushed++;
      left = nested(call(op.offset, fn, [left, this.#calc(FACTORS[op.text] !== undefined ? 3 : 2)]));
    }
    this.#leave('calc', pushed);
    return left;
  }

  #unary(): Expr {
    const { current } = this.#tokens;
    if (this.#tokens.isSymbol('!')) return this.#prefixed('!', OPERATOR.not, current);
    const next = this.#tokens.peek(1).kind;
    if (this.#tokens.isSymbol('-') && next !== 'int' && next !== 'float')
      return this.#prefixed('-', OPERATOR.negate, current);
    return this.#member();
  }

  #prefixed(symbol: string, fn: string, first: Token): Expr {
    let count = 0;
    let last = first;
    for (let op = this.#tokens.accept(symbol); op !== undefined; op = this.#tokens.accept(symbol)) {
      count++;
      last = op;
    }
    if (symbol === '!') this.#tokens.operandAfterNot();
    else this.#tokens.operandAfterMinus(last);
    const operand = this.#member();
    return count % 2 === 0 ? operand : call(first.offset, fn, [operand]);
  }

  #member(): Expr {
    this.#enter('member');
    let pushed = 1;
    let operand = this.#primary();
    for (;;) {
      const { current } = this.#tokens;
      if (current.kind !== 'symbol' || (current.text !== '.' && current.text !== '[')) break;
      this.#tokens.advance();
      this.#enter('member');
      pushed++;
      operand = current.text === '.' ? this.#selection(operand, current) : this.#index(operand, current);
    }
    this.#leave('member', pushed);
    return operand;
  }

  #selection(operand: Expr, dot: Token): Expr {
    const question = this.#tokens.accept('?');
    if (this.#tokens.current.kind === 'escaped-identifier') {
      const { offset } = this.#tokens.advance();
      return this.#report(offset, "unsupported syntax: '`'");
    }
    const name = this.#tokens.expectIdentifier(question ?? dot);
    if (name === undefined) return operand;
    if (question !== undefined) {
      if (!this.options.optionalSyntax) return this.#report(dot.offset, "unsupported syntax '.?'");
      return nested(call(dot.offset, OPERATOR.optSelect, [operand, literal(name.offset, name.text)]));
    }
    const open = this.#tokens.accept('(');
    if (open === undefined) return select(dot.offset, operand, name.text);
    const args = this.#arguments();
    return nested(this.#callOrMacro(open.offset, name.text, args, operand));
  }

  #index(operand: Expr, open: Token): Expr {
    const optional = this.#tokens.accept('?') !== undefined;
    const index = this.#first([']'], optional ? [] : ['?']);
    this.#tokens.expect(']');
    if (optional && !this.options.optionalSyntax) return this.#report(open.offset, "unsupported syntax '[?'");
    return nested(call(open.offset, optional ? OPERATOR.optIndex : OPERATOR.index, [operand, index]));
  }

  /** The first expression of a construct, in whose place other symbols could stand. */
  #first(closers: readonly string[], also: readonly string[]): Expr {
    return this.#tokens.within(closers, () => {
      if (this.#tokens.isOperandStart() || this.#tokens.missingOperand(also)) return this.#expr();
      return this.#missing();
    });
  }

  #arguments(): Expr[] {
    if (this.#tokens.accept(')') !== undefined) return [];
    const args = [this.#first([',', ')'], [')'])];
    while (this.#tokens.accept(',') !== undefined)
      args.push(this.#tokens.within([',', ')'], () => this.#expr()));
    this.#tokens.expect(')');
    return args;
  }

  #callOrMacro(offset: number, name: string, args: readonly Expr[], target?: Expr): Expr {
    const plain = call(offset, name, args, target);
    const macro = this.options.macros.get(macroKey(name, args.length, target !== undefined));
    if (macro === undefined || this.#hasMissing) return plain;
    try {
      const expanded = macro.expand({ offset, target, args, copy: (expr) => this.#copy(expr) });
      return expanded === undefined ? plain : { ...expanded, depth: plain.depth };
    } catch (thrown) {
      if (!(thrown instanceof MacroError)) throw thrown;
      return this.#report(thrown.offset, thrown.message);
    }
  }

  #copy(expr: Expr): Expr {
    this.#copiedNodes += countNodes(expr);
    if (this.#copiedNodes > COPIED_NODES_MAX)
      throw new LimitExceeded(`macros expand to more than ${COPIED_NODES_MAX} expressions`);
    return copy(expr);
  }

  #primary(): Expr {
    const { current } = this.#tokens;
    switch (current.kind as string) {
      case 'identifier':
        return this.#name();
      case 'symbol':
        return this.#delimited(current);
      case 'end':
      case 'escaped-identifier':
        return this.#noOperand();
      default:
        return this.#literal(this.#tokens.advance(), undefined);
    }
  }

  /** Stands where an operand should be; no macro is to complain about it as well. */
  #missing(): Expr {
    this.#hasMissing = true;
    return literal(this.#tokens.current.offset, null);
  }

  #noOperand(): Expr {
    return this.#tokens.missingOperand() ? this.#primary() : this.#missing();
  }

  #delimited(open: Token): Expr {
    switch (open.text) {
      case '(': {
        this.#tokens.advance();
        const inner = this.#tokens.within([')'], () => this.#expr());
        this.#tokens.expect(')');
        return inner;
      }
      case '[':
        return this.#collections.list(this.#tokens.advance());
      case '{':
        return this.#collections.map(this.#tokens.advance());
      case '-': {
        this.#tokens.advance();
        return this.#literal(this.#tokens.advance(), open);
      }
      case '.':
        if (this.#tokens.isIdentifier(1)) return this.#name();
        this.#tokens.advance();
        this.#tokens.expectIdentifier(open);
        return literal(open.offset, null);
      default:
        return this.#noOperand();
    }
  }

  #literal(token: Token, sign: Token | undefined): Expr {
    const offset = sign?.offset ?? token.offset;
    switch (token.kind as string) {
      case 'int': {
        const value = intLiteral(token.text, sign !== undefined);
        return value === undefined ? this.#report(offset, 'invalid int literal') : literal(offset, value);
      }
      case 'uint': {
        const value = uintLiteral(token.text);
        return value === undefined ? this.#report(offset, 'invalid uint literal') : literal(offset, value);
      }
      case 'float': {
        const value = doubleLiteral(token.text, sign !== undefined);
        return value === undefined ? this.#report(offset, 'invalid double literal') : literal(offset, value);
      }
      default:
        return this.#quoted(token);
    }
  }

  #quoted({ kind, text, offset }: Token): Expr {
    try {
      return literal(offset, kind === 'bytes' ? bytesLiteral(text) : stringLiteral(text));
    } catch (thrown) {
      if (!(thrown instanceof EscapeError)) throw thrown;
      return this.#report(offset, thrown.message);
    }
  }

  /** A variable, a call, a literal with a name, or a message `a.b.C{...}`. */
  #name(): Expr {
    const dot = this.#tokens.accept('.');
    const prefix = dot === undefined ? '' : '.';
    if (dot === undefined) {
      const { text, offset } = this.#tokens.current;
      if (text === 'true' || text === 'false' || text === 'null') {
        this.#tokens.advance();
        return literal(offset, text === 'null' ? null : text === 'true');
      }
      if (text === 'in') return this.#noOperand();
    }
    if (this.#isMessage()) return this.#collections.message(prefix);
    const name = this.#tokens.advance();
    const start = dot?.offset ?? name.offset;
    const open = this.#tokens.accept('(');
    const args = open === undefined ? undefined : this.#arguments();
    if (RESERVED.has(name.text)) return this.#report(start, `reserved identifier: ${name.text}`);
    if (open === undefined) return ident(name.offset, prefix + name.text);
    return this.#callOrMacro(open.offset, prefix + name.text, args!);
  }

  #isMessage(): boolean {
    let ahead = 1;
    while (this.#tokens.isSymbol('.', ahead) && this.#tokens.isIdentifier(ahead + 1)) ahead += 2;
    return this.#tokens.isSymbol('{', ahead);
  }
}

/** The tree of an expression with its macros expanded; undefined if `issues` says why there is none. */
export const parse = (source: SourceText, options: ParserOptions, issues: Issues): Expr | undefined => {
  const size = source.text.length > EXPRESSION_CODE_POINTS_MAX ? codePointCount(source.text) : 0;
  if (size > EXPRESSION_CODE_POINTS_MAX) {
    issues.report(
      NO_LOCATION,
      `expression code point size exceeds limit: size: ${size}, limit ${EXPRESSION_CODE_POINTS_MAX}`,
    );
    return undefined;
  }
  try {
    const expr = new Parser(source, options, issues).parse();
    return issues.count === 0 ? expr : undefined;
  } catch (thrown) {
    if (thrown instanceof LimitExceeded) issues.report(NO_LOCATION, thrown.message);
    else if (!(thrown instanceof SyntaxFailure)) throw thrown;
    return undefined;
  }
};
