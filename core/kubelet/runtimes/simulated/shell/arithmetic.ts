import { ReasonError } from '../../../../base/errors.ts';
import { NESTING_MAX } from './limits.ts';

const wrong = (why: string): ReasonError<'SyntaxError'> => new ReasonError('SyntaxError', why);

/** Sums and products of integers and variables, which is what counters in scripts need. */
export const evaluateArithmetic = (
  expression: string,
  variable: (name: string) => string | undefined,
): number => {
  const tokens = expression.match(/\d+|[A-Za-z_]\w*|[-+*/%()]/g) ?? [];
  let at = 0;
  let depth = 0;
  const atom = (): number => {
    let isNegative = false;
    for (; tokens[at] === '-'; at += 1) isNegative = !isNegative;
    const token = tokens[at++] ?? '0';
    const value =
      token === '(' ? group() : /^\d/.test(token) ? Number(token) : Number(variable(token) ?? 0) || 0;
    return isNegative ? -value : value;
  };
  const group = (): number => {
    depth += 1;
    if (depth > NESTING_MAX) throw wrong('sh: arithmetic syntax error: nested too deeply');
    const value = sum();
    depth -= 1;
    at += 1;
    return value;
  };
  const product = (): number => {
    let value = atom();
    while (['*', '/', '%'].includes(tokens[at] ?? '')) {
      const operator = tokens[at++];
      const right = atom();
      if (operator === '*') value *= right;
      else if (right === 0) throw wrong('sh: divide by zero');
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
};
