import { ReasonError } from '../../base/errors.ts';
import { errorText, invalid } from '../field/field-error.ts';
import { NO_PATH } from '../field/field-path.ts';
import { isQualifiedName } from '../field/formats.ts';
import type { LabelOperator, LabelRequirement } from './requirement.ts';
import { labelRequirement } from './requirement.ts';

/**
 * The string syntax of label selectors, `app=web,tier in (a,b),!debug,gen>3`. Two steps as upstream: tokens,
 * then requirements; the error texts name the token that was found and what was expected there.
 */

type TokenKind =
  'error' | 'end' | ')' | ',' | '!' | '==' | '=' | '>' | 'identifier' | 'in' | '<' | '!=' | 'notin' | '(';

interface Token {
  readonly kind: TokenKind;
  readonly text: string;
}

/** No selector that fits a URL is longer. */
export const SELECTOR_CHARACTERS_MAX = 256 * 1_024;

const SYMBOLS: ReadonlySet<string> = new Set([')', ',', '!', '==', '=', '>', '<', '!=', '(']);
const isSymbol = (character: string): boolean => '=!(),><'.includes(character);
const isSpace = (character: string): boolean => ' \t\r\n'.includes(character);

const fail = (message: string): ReasonError<'SelectorInvalid'> => new ReasonError('SelectorInvalid', message);

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    if (isSpace(character)) {
      at += 1;
      continue;
    }
    let end = at + 1;
    if (isSymbol(character)) {
      if (end < text.length && SYMBOLS.has(text.slice(at, end + 1))) end += 1;
      const symbol = text.slice(at, end);
      tokens.push({ kind: symbol as TokenKind, text: symbol });
    } else {
      while (end < text.length && !isSymbol(text.charAt(end)) && !isSpace(text.charAt(end))) end += 1;
      const word = text.slice(at, end);
      tokens.push({ kind: word === 'in' || word === 'notin' ? word : 'identifier', text: word });
    }
    at = end;
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
}

/** Where a key or a value stands, `in` and `notin` are ordinary words. */
const asWord = (token: Token): Token =>
  token.kind === 'in' || token.kind === 'notin' ? { kind: 'identifier', text: token.text } : token;

const BINARY_OPERATORS: Readonly<Partial<Record<TokenKind, LabelOperator>>> = {
  in: 'in',
  notin: 'notin',
  '=': '=',
  '==': '==',
  '!=': '!=',
  '>': 'gt',
  '<': 'lt',
};
const BINARY_OPERATORS_TEXT = 'in, notin, =, ==, !=, gt, lt';
const END: Token = { kind: 'end', text: '' };

class Parser {
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(text: string) {
    this.#tokens = tokenize(text);
  }

  #peek(): Token {
    return asWord(this.#tokens[this.#position] ?? END);
  }

  #take(): Token {
    const token = this.#peek();
    this.#position += 1;
    return token;
  }

  parse(): LabelRequirement[] {
    const requirements: LabelRequirement[] = [];
    for (;;) {
      const token = this.#peek();
      if (token.kind === 'end') return requirements;
      if (token.kind !== 'identifier' && token.kind !== '!')
        throw fail(`found '${token.text}', expected: !, identifier, or 'end of string'`);
      requirements.push(this.#requirementOrFail());
      const separator = this.#take();
      if (separator.kind === 'end') return requirements;
      if (separator.kind !== ',') throw fail(`found '${separator.text}', expected: ',' or 'end of string'`);
      const next = this.#peek();
      if (next.kind !== 'identifier' && next.kind !== '!')
        throw fail(`found '${next.text}', expected: identifier after ','`);
    }
  }

  #requirementOrFail(): LabelRequirement {
    try {
      return this.#requirement();
    } catch (error) {
      if (!(error instanceof ReasonError)) throw error;
      throw new ReasonError('SelectorInvalid', `unable to parse requirement: ${error.message}`, {
        cause: error,
      });
    }
  }

  #requirement(): LabelRequirement {
    let token = this.#take();
    const negated = token.kind === '!';
    if (negated) token = this.#take();
    if (token.kind !== 'identifier') throw fail(`found '${token.text}', expected: identifier`);
    const key = token.text;
    const keyErrors = isQualifiedName(key);
    if (keyErrors.length > 0) throw fail(errorText(invalid(NO_PATH, key, keyErrors.join('; '))));
    const next = this.#peek();
    if (negated) return labelRequirement(key, '!', []);
    if (next.kind === 'end' || next.kind === ',') return labelRequirement(key, 'exists', []);
    const operatorToken = this.#tokens[this.#position] ?? END;
    this.#position += 1;
    const operator = BINARY_OPERATORS[operatorToken.kind];
    if (operator === undefined)
      throw fail(`found '${operatorToken.text}', expected: ${BINARY_OPERATORS_TEXT}`);
    const values = operator === 'in' || operator === 'notin' ? this.#values() : this.#exactValue();
    return labelRequirement(key, operator, [...new Set(values)].sort());
  }

  #exactValue(): string[] {
    const next = this.#peek();
    if (next.kind === 'end' || next.kind === ',') return [''];
    const token = this.#take();
    if (token.kind !== 'identifier') throw fail(`found '${token.text}', expected: identifier`);
    return [token.text];
  }

  #values(): string[] {
    const open = this.#take();
    if (open.kind !== '(') throw fail(`found '${open.text}' expected: '('`);
    const first = this.#peek();
    if (first.kind === ')') {
      this.#take();
      return [''];
    }
    if (first.kind !== 'identifier' && first.kind !== ',')
      throw fail(`found '${first.text}', expected: ',', ')' or identifier`);
    const values = this.#identifiers();
    // #identifiers stops in front of the closing parenthesis, or has thrown.
    this.#take();
    return values;
  }

  /** Commas with nothing between them stand for the empty value. */
  #identifiers(): string[] {
    const values: string[] = [];
    for (;;) {
      const token = this.#take();
      if (token.kind === 'identifier') {
        values.push(token.text);
        const next = this.#peek();
        if (next.kind === ')') return values;
        if (next.kind !== ',') throw fail(`found '${next.text}', expected: ',' or ')'`);
      } else if (token.kind === ',') {
        if (values.length === 0) values.push('');
        const next = this.#peek();
        if (next.kind === ')') return [...values, ''];
        if (next.kind === ',') values.push('');
      } else {
        throw fail(`found '${token.text}', expected: ',', or identifier`);
      }
    }
  }
}

/** Requirements in the order of their keys. Throws a ReasonError 'SelectorInvalid'. */
export function parseRequirements(text: string): LabelRequirement[] {
  if (text.length > SELECTOR_CHARACTERS_MAX)
    throw fail(`label selector must be no more than ${SELECTOR_CHARACTERS_MAX} characters`);
  return new Parser(text).parse().sort(byKey);
}

export const byKey = (a: LabelRequirement, b: LabelRequirement): number =>
  a.key < b.key ? -1 : a.key > b.key ? 1 : 0;
