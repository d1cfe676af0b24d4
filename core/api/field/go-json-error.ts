/**
 * Says what Go's JSON decoder says of a text that `JSON.parse` refused: clients print these sentences, and
 * scripts match them. Only looked for once the text is known to be wrong, so it need not be quick.
 */
const END = 'unexpected end of JSON input';
const SPACE = new Set([' ', '\t', '\r', '\n']);

/** Characters as Go quotes them: `'x'`, `'\n'`, `'\''`. */
const quoted = (character: string): string => {
  if (character === "'") return `'\\''`;
  if (character === '"') return `'"'`;
  const inner = JSON.stringify(character).slice(1, -1);
  return `'${inner}'`;
};

class Fault extends Error {}

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  scan(): void {
    const open: ('object' | 'array')[] = [];
    // One turn a value: what follows it depends on the container that is open.
    for (;;) {
      let next = this.#token();
      if (next === '{') {
        this.#at += 1;
        open.push('object');
        next = this.#token();
        if (next !== '}') {
          this.#key(next);
          continue;
        }
        this.#at += 1;
        open.pop();
      } else if (next === '[') {
        this.#at += 1;
        open.push('array');
        if (this.#token() !== ']') continue;
        this.#at += 1;
        open.pop();
      } else this.#scalar(next);
      if (this.#afterValue(open)) return;
    }
  }

  /** True at the end of the text; otherwise a next value begins. */
  #afterValue(open: ('object' | 'array')[]): boolean {
    for (;;) {
      const container = open.at(-1);
      if (container === undefined) {
        this.#skipSpace();
        if (this.#at < this.#text.length) this.#fail('after top-level value');
        return true;
      }
      const context = container === 'object' ? 'after object key:value pair' : 'after array element';
      const next = this.#token();
      const closing = container === 'object' ? '}' : ']';
      if (next !== ',' && next !== closing) this.#fail(context);
      this.#at += 1;
      if (next === ',') {
        if (container === 'object') this.#key(this.#token());
        return false;
      }
      open.pop();
    }
  }

  #key(next: string): void {
    if (next !== '"') this.#fail('looking for beginning of object key string');
    this.#string();
    if (this.#token() !== ':') this.#fail('after object key');
    this.#at += 1;
  }

  #scalar(first: string): void {
    if (first === '"') this.#string();
    else if (first === 't') this.#literal('true');
    else if (first === 'f') this.#literal('false');
    else if (first === 'n') this.#literal('null');
    else if (first === '-' || (first >= '0' && first <= '9')) this.#number();
    else this.#fail('looking for beginning of value');
  }

  #string(): void {
    this.#at += 1;
    for (; ; this.#at += 1) {
      const character = this.#here();
      if (character === '"') break;
      if (character === '\\') this.#escape();
      else if (character < ' ') this.#fail('in string literal');
    }
    this.#at += 1;
  }

  #escape(): void {
    this.#at += 1;
    const code = this.#here();
    if (code !== 'u') {
      if (!'"\\/bfnrt'.includes(code)) this.#fail('in string escape code');
      return;
    }
    for (let digit = 0; digit < 4; digit += 1) {
      this.#at += 1;
      if (!/[0-9a-fA-F]/.test(this.#here())) this.#fail('in \\u hexadecimal character escape');
    }
  }

  #literal(word: string): void {
    for (const letter of word.slice(1)) {
      this.#at += 1;
      if (this.#here() !== letter) this.#fail(`in literal ${word} (expecting ${quoted(letter)})`);
    }
    this.#at += 1;
  }

  #number(): void {
    if (this.#here() === '-') {
      this.#at += 1;
      this.#digit('in numeric literal');
    }
    if (this.#here() === '0') this.#at += 1;
    else this.#digits();
    if (this.#text[this.#at] === '.') {
      this.#at += 1;
      this.#digit('after decimal point in numeric literal');
      this.#digits();
    }
    if (this.#text[this.#at] === 'e' || this.#text[this.#at] === 'E') {
      this.#at += 1;
      if (this.#here() === '+' || this.#here() === '-') this.#at += 1;
      this.#digit('in exponent of numeric literal');
      this.#digits();
    }
  }

  #digit(context: string): void {
    if (!/[0-9]/.test(this.#here())) this.#fail(context);
  }

  #digits(): void {
    while (/[0-9]/.test(this.#text[this.#at] ?? '')) this.#at += 1;
  }

  #skipSpace(): void {
    while (SPACE.has(this.#text[this.#at] ?? '')) this.#at += 1;
  }

  #token(): string {
    this.#skipSpace();
    return this.#here();
  }

  #here(): string {
    const character = this.#text[this.#at];
    if (character === undefined) throw new Fault(END);
    return character;
  }

  #fail(context: string): never {
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at)!);
    throw new Fault(`invalid character ${quoted(character)} ${context}`);
  }
}

/** The text must be one that `JSON.parse` refuses. */
export const goJsonError = (text: string): string => {
  try {
    new Scanner(text).scan();
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
  return END;
};
