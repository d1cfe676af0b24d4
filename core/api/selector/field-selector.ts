import { ReasonError } from '../../base/errors.ts';

export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

/** The fields a resource offers to selectors; a field that is missing reads as "". */
export type FieldLookup = (field: string) => string | undefined;

export interface FieldSelector {
  readonly requirements: readonly FieldRequirement[];
  readonly isEmpty: boolean;
  matches(lookup: FieldLookup): boolean;
  toString(): string;
}

const fail = (message: string): ReasonError<'SelectorInvalid'> => new ReasonError('SelectorInvalid', message);

export const escapeFieldValue = (value: string): string => value.replace(/[\\,=]/g, '\\$&');

export function unescapeFieldValue(text: string): string {
  if (!/[\\,=]/.test(text)) return text;
  let value = '';
  let escaped = false;
  for (const character of text) {
    if (escaped) {
      if (!'\\,='.includes(character))
        throw fail(`invalid field selector: invalid escape sequence: \\${character}`);
      value += character;
      escaped = false;
    } else if (character === '\\') {
      escaped = true;
    } else if (character === ',' || character === '=') {
      // Upstream prints the rune as a number.
      throw fail(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`);
    } else {
      value += character;
    }
  }
  if (escaped) throw fail('invalid field selector: invalid escape sequence: \\');
  return value;
}

function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '\\') at += 1;
    else if (character === ',') {
      terms.push(text.slice(start, at));
      start = at + 1;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

const TERM = /^(.*?)(!=|==|=)(.*)$/s;

const formatTerm = ({ field, operator, value }: FieldRequirement): string =>
  `${field}${operator}${escapeFieldValue(value)}`;

export function fieldSelector(requirements: readonly FieldRequirement[]): FieldSelector {
  return {
    requirements,
    isEmpty: requirements.length === 0,
    matches(lookup) {
      for (const { field, operator, value } of requirements)
        if (((lookup(field) ?? '') === value) !== (operator === '=')) return false;
      return true;
    },
    toString: () => requirements.map(formatTerm).join(','),
  };
}

export const EVERY_FIELD: FieldSelector = fieldSelector([]);

/** `metadata.name=web-0,spec.nodeName!=`; `\,`, `\=` and `\\` stand for themselves in values. */
export function parseFieldSelector(text: string): FieldSelector {
  const requirements: FieldRequirement[] = [];
  for (const term of splitTerms(text).sort()) {
    if (term === '') continue;
    const match = TERM.exec(term);
    if (match === null) throw fail(`invalid selector: '${text}'; can't understand '${term}'`);
    const [, field = '', operator = '=', value = ''] = match;
    requirements.push({
      field,
      operator: operator === '!=' ? '!=' : '=',
      value: unescapeFieldValue(value),
    });
  }
  return requirements.length === 0 ? EVERY_FIELD : fieldSelector(requirements);
}

/** The one value the selector demands of a field, where it demands one: lets a caller read by key or index. */
export const requiredFieldValue = (selector: FieldSelector, field: string): string | undefined =>
  selector.requirements.find((candidate) => candidate.field === field && candidate.operator === '=')?.value;
