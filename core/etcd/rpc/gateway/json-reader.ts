/** A JSON value with the place where it stands: errors name it, and numbers keep all their digits. */
export type JsonNode = { readonly at: number; readonly raw: string } & (
  | { readonly kind: 'null' | 'number' }
  | { readonly kind: 'bool'; readonly value: boolean }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'array'; readonly items: readonly JsonNode[] }
  | { readonly kind: 'object'; readonly entries: readonly JsonEntry[] }
);
export interface JsonEntry {
  readonly at: number;
  readonly key: string;
  readonly value: JsonNode;
}

/** Not JSON; in the words of Go's encoding/json, which etcd's gateway reports. */
export class JsonSyntaxError extends Error {
  override readonly name = 'JsonSyntaxError';
}

/** The deepest transaction that the codec takes has 450 levels in JSON; each is a call of the reader. */
export const JSON_DEPTH_MAX = 512;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const PLAIN_CHARACTERS = /[^"\\\u0000-\u001f]*/y;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};
const UNICODE_ESCAPE = /[0-9a-fA-F]{4}/y;

/** One value; what follows it is not looked at. */
export const readJson = (text: string): JsonNode => new Reader(text).value(0);

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): JsonNode {
    this.#skipSpace();
    const at = this.#at;
    switch (this.#text[at]) {
      case '{':
      case '[':
        if (depth >= JSON_DEPTH_MAX) throw new JsonSyntaxError('exceeded max depth');
        return this.#text[at] === '{' ? this.#object(depth) : this.#array(depth);
      case '"': {
        const value = this.#string();
        return { kind: 'string', at, raw: this.#text.slice(at, this.#at), value };
      }
      case 't':
        this.#literal('true');
        return { kind: 'bool', at, raw: 'true', value: true };
      case 'f':
        this.#literal('false');
        return { kind: 'bool', at, raw: 'false', value: false };
      case 'n':
        this.#literal('null');
        return { kind: 'null', at, raw: 'null' };
      case undefined:
      default:
        return this.#number();
    }
  }

  #object(depth: number): JsonNode {
    const at = this.#at;
    const entries: JsonEntry[] = [];
    this.#at += 1;
    this.#skipSpace();
    if (this.#text[this.#at] === '}') this.#at += 1;
    else
      for (;;) {
        this.#skipSpace();
        const keyAt = this.#at;
        if (this.#text[keyAt] !== '"') throw this.#unexpected('looking for beginning of object key string');
        const key = this.#string();
        this.#skipSpace();
        if (this.#text[this.#at] !== ':') throw this.#unexpected('after object key');
        this.#at += 1;
        entries.push({ at: keyAt, key, value: this.value(depth + 1) });
        if (this.#closes('}', 'after object key:value pair')) break;
      }
    return { kind: 'object', at, raw: '{', entries };
  }

  #array(depth: number): JsonNode {
    const at = this.#at;
    const items: JsonNode[] = [];
    this.#at += 1;
    this.#skipSpace();
    if (this.#text[this.#at] === ']') this.#at += 1;
    else
      for (;;) {
        items.push(this.value(depth + 1));
        if (this.#closes(']', 'after array element')) break;
      }
    return { kind: 'array', at, raw: '[', items };
  }

  /** After an element: whether the list ends here, or a comma follows. */
  #closes(end: string, where: string): boolean {
    this.#skipSpace();
    const character = this.#text[this.#at];
    if (character !== end && character !== ',') throw this.#unexpected(where);
    this.#at += 1;
    return character === end;
  }

  #number(): JsonNode {
    const at = this.#at;
    NUMBER.lastIndex = at;
    const raw = NUMBER.exec(this.#text)?.[0];
    if (raw === undefined) {
      if (this.#text[at] === '-') this.#at += 1;
      throw this.#unexpected(this.#at > at ? 'in numeric literal' : 'looking for beginning of value');
    }
    this.#at += raw.length;
    return { kind: 'number', at, raw };
  }

  #literal(word: string): void {
    for (const [index, letter] of [...word].entries()) {
      if (this.#text[this.#at] !== letter)
        throw this.#unexpected(`in literal ${word} (expecting '${word[index]!}')`);
      this.#at += 1;
    }
  }

  #string(): string {
    let value = '';
    this.#at += 1;
    for (;;) {
      PLAIN_CHARACTERS.lastIndex = this.#at;
      const run = PLAIN_CHARACTERS.exec(this.#text)![0];
      value += run;
      this.#at += run.length;
      const character = this.#text[this.#at];
      if (character === '"') {
        this.#at += 1;
        return value;
      }
      if (character !== '\\') throw this.#unexpected('in string literal');
      this.#at += 1;
      value += this.#escape();
    }
  }

  #escape(): string {
    const letter = this.#text[this.#at] ?? '';
    if (letter === 'u') {
      this.#at += 1;
      UNICODE_ESCAPE.lastIndex = this.#at;
      const digits = UNICODE_ESCAPE.exec(this.#text)?.[0];
      if (digits === undefined) throw this.#unexpected('in \\u hexadecimal character escape');
      this.#at += digits.length;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const character = ESCAPES[letter];
    if (character === undefined) throw this.#unexpected('in string escape code');
    this.#at += 1;
    return character;
  }

  #skipSpace(): void {
    while (isJsonSpace(this.#text.charCodeAt(this.#at))) this.#at += 1;
  }

  #unexpected(where: string): JsonSyntaxError {
    const character = this.#text[this.#at];
    if (character === undefined) return new JsonSyntaxError('unexpected EOF');
    return new JsonSyntaxError(`invalid character ${quoted(character)} ${where}`);
  }
}

export const isJsonSpace = (code: number): boolean =>
  code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;

const quoted = (character: string): string => {
  if (character === "'") return String.raw`'\''`;
  return character === '"' ? `'"'` : `'${JSON.stringify(character).slice(1, -1)}'`;
};
