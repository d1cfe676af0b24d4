import { isMap } from '../structural/structural.ts';

/**
 * The JSON paths of columns and selectable fields, as `kubectl` has them: `.spec.ports[0].name`,
 * `.status.conditions[?(@.type=="Ready")].status`, `.metadata.labels.app\.kubernetes\.io/name`, `.items[*]`, `['a']`.
 */
type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'all' }
  | { readonly kind: 'recursive' }
  | {
      readonly kind: 'slice';
      readonly from: number | undefined;
      readonly to: number | undefined;
      readonly step: number;
    }
  | { readonly kind: 'index'; readonly at: number }
  | {
      readonly kind: 'filter';
      readonly left: readonly Step[];
      readonly operator: string;
      readonly right: Operand;
    };

type Operand = { readonly literal: unknown } | { readonly path: readonly Step[] } | undefined;

/** Undefined where the path is none; upstream refuses such columns when it prints them. */
export type FindResults = (data: unknown) => readonly unknown[];

const STEPS_MAX = 200;
const RESULTS_MAX = 10_000;

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  /** The path up to its end, or up to a character that none may have. */
  path(ends: string): Step[] | undefined {
    const steps: Step[] = [];
    while (!this.isAtEnd && !ends.includes(this.#text[this.#at]!)) {
      if (steps.length > STEPS_MAX) return undefined;
      const step = this.#step();
      if (step === undefined) return undefined;
      if (step !== 'none') steps.push(step);
    }
    return steps;
  }

  skip(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  blanks(): void {
    while (this.#text[this.#at] === ' ') this.#at += 1;
  }

  #step(): Step | 'none' | undefined {
    if (this.skip('..')) return { kind: 'recursive' };
    if (this.skip('.')) {
      if (this.isAtEnd) return undefined;
      if (this.skip('*')) return { kind: 'all' };
      if (this.#text[this.#at] === '[') return 'none';
      return this.#field();
    }
    if (this.skip('@') || this.skip('$')) return 'none';
    if (this.skip('[')) return this.#bracket();
    return this.#field();
  }

  #field(): Step | undefined {
    let name = '';
    for (; !this.isAtEnd; this.#at += 1) {
      const character = this.#text[this.#at]!;
      if (character === '\\') {
        this.#at += 1;
        name += this.#text[this.#at] ?? '';
      } else if ('.[]()=<>! ,\'"|&'.includes(character)) break;
      else name += character;
    }
    return name === '' ? undefined : { kind: 'field', name };
  }

  #bracket(): Step | undefined {
    if (this.skip('?(')) return this.#filter();
    const end = this.#text.indexOf(']', this.#at);
    if (end < 0) return undefined;
    const quoted = /^(['"])(.*)\1$/s.exec(this.#text.slice(this.#at, end));
    const inside = this.#text.slice(this.#at, end).trim();
    this.#at = end + 1;
    if (quoted) return { kind: 'field', name: quoted[2]! };
    if (inside === '*') return { kind: 'all' };
    if (/^-?\d+$/.test(inside)) return { kind: 'index', at: Number(inside) };
    const slice = /^(-?\d*):(-?\d*)(?::(\d*))?$/.exec(inside);
    if (!slice) return undefined;
    const numberIn = (text: string | undefined): number | undefined => (text ? Number(text) : undefined);
    return { kind: 'slice', from: numberIn(slice[1]), to: numberIn(slice[2]), step: numberIn(slice[3]) ?? 1 };
  }

  #filter(): Step | undefined {
    this.blanks();
    const left = this.path(' =<>!)');
    if (left === undefined) return undefined;
    this.blanks();
    const operator = ['==', '!=', '<=', '>=', '<', '>'].find((one) => this.skip(one)) ?? 'exists';
    this.blanks();
    const right = operator === 'exists' ? undefined : this.#operand();
    this.blanks();
    if (!this.skip(')]')) return undefined;
    if (operator !== 'exists' && right === undefined) return undefined;
    return { kind: 'filter', left, operator, right };
  }

  #operand(): Operand {
    const literal = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(-?\d+(?:\.\d+)?)|(true|false))/.exec(
      this.#text.slice(this.#at),
    );
    if (literal) {
      this.#at += literal[0].length;
      const [, double, single, number, flag] = literal;
      if (number !== undefined) return { literal: Number(number) };
      if (flag !== undefined) return { literal: flag === 'true' };
      return { literal: (double ?? single ?? '').replaceAll(/\\(.)/g, '$1') };
    }
    const path = this.path(' )');
    return path && { path };
  }
}

const compare = (left: unknown, operator: string, right: unknown): boolean => {
  if (typeof left !== typeof right) return operator === '!=';
  switch (operator) {
    case '==':
      return left === right;
    case '!=':
      return left !== right;
    default: {
      if (typeof left !== 'number' && typeof left !== 'string') return false;
      const [a, b] = [left, right as typeof left];
      if (operator === '<') return a < b;
      if (operator === '<=') return a <= b;
      return operator === '>' ? a > b : a >= b;
    }
  }
};

const descend = (value: unknown, into: unknown[]): void => {
  if (into.length >= RESULTS_MAX) return;
  into.push(value);
  if (Array.isArray(value)) for (const item of value) descend(item, into);
  else if (isMap(value)) for (const inside of Object.values(value)) descend(inside, into);
};

const apply = (step: Step, value: unknown): readonly unknown[] => {
  switch (step.kind) {
    case 'field':
      return isMap(value) && Object.hasOwn(value, step.name) ? [value[step.name]] : [];
    case 'all':
      return Array.isArray(value) ? value : isMap(value) ? Object.values(value) : [];
    case 'recursive': {
      const found: unknown[] = [];
      descend(value, found);
      return found;
    }
    case 'index':
      return Array.isArray(value) && value.at(step.at) !== undefined ? [value.at(step.at)] : [];
    case 'slice':
      return Array.isArray(value)
        ? value.slice(step.from ?? 0, step.to).filter((_item, at) => at % Math.max(1, step.step) === 0)
        : [];
    case 'filter': {
      if (!Array.isArray(value)) return [];
      const { left, operator, right } = step;
      return value.filter((item) => {
        const found = walk(left, item);
        if (operator === 'exists') return found.length > 0;
        if (found.length === 0 || right === undefined) return false;
        const other = 'literal' in right ? [right.literal] : walk(right.path, item);
        return other.length > 0 && compare(found[0], operator, other[0]);
      });
    }
  }
};

const walk = (steps: readonly Step[], data: unknown): readonly unknown[] => {
  let values: readonly unknown[] = [data];
  for (const step of steps) {
    if (values.length === 0) return values;
    values = values.flatMap((value) => apply(step, value)).slice(0, RESULTS_MAX);
  }
  return values;
};

export const parseJsonPath = (text: string): FindResults | undefined => {
  const reader = new Reader(text);
  const steps = reader.path('');
  return steps && reader.isAtEnd ? (data) => walk(steps, data) : undefined;
};
