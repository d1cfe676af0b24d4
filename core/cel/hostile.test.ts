import { describe, expect, test } from 'vitest';
import { type Evaluation, createEnvironment, types } from './index.ts';

const environment = createEnvironment({ version: '1.36', variables: { object: types.DYN } });

const compileText = (text: string): string => {
  const compiled = environment.compile(text);
  return compiled.ok ? 'accepted' : compiled.text.split('\n')[0]!;
};
const evaluate = (text: string, object: unknown = {}): Evaluation => {
  const compiled = environment.compile(text);
  if (!compiled.ok) throw new Error(compiled.text);
  return compiled.program.evaluate({ object });
};
const cancelled = { ok: false, reason: 'cost-limit' };

describe('what an expression is written like', () => {
  const limit = 'ERROR: <input>:-1:0: expression recursion limit exceeded: 250';

  test.each([
    ['parentheses', '('.repeat(300) + '1' + ')'.repeat(300), limit],
    ['lists', '['.repeat(20_000) + ']'.repeat(20_000), limit],
    ['maps', '{1:'.repeat(300) + '1' + '}'.repeat(300), limit],
    ['calls', 'size('.repeat(300) + '""' + ')'.repeat(300), limit],
    ['members', `object${'.a'.repeat(40_000)}`, limit],
    ['indices', `object${'[0]'.repeat(300)}`, limit],
    ['sums', `1${'+1'.repeat(40_000)}`, limit],
    ['relations', `1${'<1'.repeat(300)}`, limit],
    ['conditionals', `${'true?1:'.repeat(300)}1`, limit],
  ])('%s nest only so deep', (_name, text, message) => {
    expect(compileText(text)).toBe(message);
  });

  test('nesting just below the limit is accepted', () => {
    expect(compileText(`${'('.repeat(240)}1${')'.repeat(240)}`)).toBe('accepted');
    expect(compileText(`1${'+1'.repeat(240)}`)).toBe('accepted');
  });

  test('terms of || do not nest', () => {
    expect(compileText(`true${'||true'.repeat(15_000)}`)).toBe('accepted');
  });

  test('prefix operators do not nest', () => {
    expect(compileText(`${'!'.repeat(90_000)}true`)).toBe('accepted');
    expect(compileText(`${'-'.repeat(90_000)}object.a`)).toBe('accepted');
  });

  test('an expression has a largest size', () => {
    expect(compileText(`'${'a'.repeat(100_000)}'`)).toBe(
      'ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100002, limit 100000',
    );
  });

  test('literals of many elements compile', () => {
    expect(compileText(`[${'1,'.repeat(49_000)}]`)).toBe('accepted');
    expect(compileText(`[${'[],'.repeat(33_000)}]`)).toBe('accepted');
    const entries = Array.from({ length: 9000 }, (_, index) => `${index}:1`);
    expect(compileText(`{${entries.join(',')}}`)).toBe('accepted');
    expect(compileText(`{${Array.from({ length: 9000 }, (_, index) => `${index}.5:1`).join(',')}}`)).toBe(
      'accepted',
    );
  });

  test('macros that double what is before them expand only so far', () => {
    expect(compileText(`optional.of(1)${'.optMap(x, x)'.repeat(60)}`)).toBe(
      'ERROR: <input>:-1:0: macros expand to more than 100000 expressions',
    );
    expect(compileText(`optional.of(1)${'.optMap(x, x)'.repeat(5)}`)).toBe('accepted');
  });

  const nested = (levels: number, level: (at: number) => string, last: string): string =>
    `${Array.from({ length: levels }, (_, at) => level(at)).join('')}${last}${')'.repeat(levels)}`;

  test('a type that doubles at every level has a largest size', () => {
    const keys = nested(30, (at) => `[{v${at}:v${at}}].map(v${at + 1}, `, 'v30');
    const size = 'ERROR: <input>:-1:0: a type has more than 10000 parts';
    expect(compileText(`[[]].map(v0, ${keys})`)).toBe(size);
    const optional = nested(30, (at) => `optional.of({v${at}:v${at}}).optMap(v${at + 1}, `, 'v30');
    expect(compileText(`optional.of([]).optMap(v0, ${optional})`)).toBe(size);
  });

  test('comparing large types again and again has a largest number of steps', () => {
    const maps = (name: string, last: string): string =>
      nested(11, (at) => `[{${name}${at}:${name}${at}}].map(${name}${at + 1}, `, last);
    const text = `[[1]].map(v0, ${maps('v', `[[1]].map(w0, ${maps('w', `[${'v11,w11,'.repeat(2000)}]`)})`)})`;
    expect(compileText(text)).toBe('ERROR: <input>:-1:0: checking types takes more than 2000000 steps');
  });

  test.each([
    ['trees of lists', Array.from({ length: 14 }).reduce<string>((list) => `[${list},${list}]`, '[]')],
    ['deep lists', `[${`${'['.repeat(190)}${']'.repeat(190)},`.repeat(250)}]`],
    ['sums of lists', `[${`[]${'+[]'.repeat(200)},`.repeat(160)}]`],
    ['comparisons of lists', `[${'[]==[],'.repeat(12_000)}]`],
    ['long paths', `[${`object${'.a'.repeat(240)},`.repeat(200)}]`],
  ])('%s of the largest size take few steps for each character', (_name, text) => {
    expect(text.length).toBeLessThanOrEqual(100_000);
    expect(compileText(text)).toBe('accepted');
  });

  test('a long expression compiles in several turns', async () => {
    let turns = 0;
    const pace = (): Promise<void> => Promise.resolve(void turns++);
    expect(await environment.compileInTurns('object.a > 1', pace)).toMatchObject({ ok: true });
    expect(turns).toBe(3);
    expect(await environment.compileInTurns('object.a >', pace)).toMatchObject({
      ok: false,
      reason: 'invalid',
    });
    expect(turns).toBe(3);
  });

  test('garbage is reported up to a limit', () => {
    const compiled = environment.compile('@'.repeat(50_000));
    expect(compiled).toMatchObject({ ok: false, reason: 'invalid' });
    expect(compiled.ok ? '' : compiled.text).toMatch(/\d+ more errors were truncated$/);
  });

  test('quotes that are never closed are read once', () => {
    expect(compileText("'".repeat(99_999))).toMatch(/^ERROR/);
    expect(compileText(`${"'\\q".repeat(30_000)}`)).toMatch(/^ERROR/);
    expect(compileText(`"""${'a'.repeat(99_000)}`)).toMatch(/^ERROR/);
  });
});

describe('what an expression does', () => {
  test('loops within loops are cancelled', () => {
    const list = Array.from({ length: 1000 }, (_, index) => index);
    expect(evaluate('object.l.all(a, object.l.all(b, object.l.all(c, true)))', { l: list })).toMatchObject(
      cancelled,
    );
    expect(evaluate('object.l.map(a, object.l.map(b, [a, b])).size() > 0', { l: list })).toMatchObject(
      cancelled,
    );
  });

  test('a range is charged before it is created', () => {
    expect(evaluate('lists.range(9223372036854775807).size()')).toMatchObject(cancelled);
  });

  test('comparing every element with every other is charged before it is done', () => {
    const list = Array.from({ length: 100_000 }, (_, index) => index);
    expect(evaluate('object.l.distinct().size()', { l: list })).toMatchObject(cancelled);
    expect(evaluate('sets.contains(object.l, object.l)', { l: list })).toMatchObject(cancelled);
  });

  test('deep comparisons have a limit of their own', () => {
    const inner = Array.from({ length: 3000 }, () => 1);
    const outer = Array.from({ length: 200 }, (_, index) => [...inner, index]);
    expect(evaluate('sets.equivalent(object.l, object.l)', { l: outer })).toMatchObject(cancelled);
  });

  test('replacing does not multiply a string without end', () => {
    const text = 'x'.repeat(20_000);
    expect(evaluate("object.s.replace('', object.s).size()", { s: text })).toMatchObject({
      ok: false,
      error: 'result exceeds 16777216 characters',
    });
  });

  test('a list that doubles at every step stops at a largest size', () => {
    const nested = Array.from(
      { length: 40 },
      (_, index) => `optional.of(v${index}+v${index}).optMap(v${index + 1}, `,
    );
    const text = `optional.of([1,2]).optMap(v0, ${nested.join('')}v40[0]${')'.repeat(41)}`;
    expect(evaluate(text)).toMatchObject({ ok: false, error: 'list exceeds 16777216 elements' });
  });

  test.each(['(a+)+$', '(a|aa)+$', '(.*a){20}$', '(a*)*b', '(x+x+)+y'])(
    'the pattern %s does not backtrack',
    (pattern) => {
      expect(evaluate(`object.s.matches('${pattern}')`, { s: `${'a'.repeat(5000)}!` })).toMatchObject({
        ok: true,
        value: false,
      });
    },
  );

  test('a pattern that is too large is an error', () => {
    expect(compileText("'a'.matches('((a{1000}){1000}){1000}')")).toMatch(/invalid matches argument/);
    expect(compileText(`'a'.matches('${'('.repeat(40_000)}${')'.repeat(40_000)}')`)).toMatch(
      /invalid matches argument/,
    );
  });

  test('numbers of millions of digits are rejected', () => {
    const digits = '1'.repeat(3_000_000);
    expect(evaluate('int(object.s)', { s: digits })).toMatchObject({ ok: false });
    expect(evaluate("duration(object.s + 's')", { s: digits })).toMatchObject({ ok: false });
    expect(evaluate('quantity(object.s)', { s: digits })).toMatchObject({ ok: false });
    expect(evaluate("semver(object.s + '.1.1')", { s: digits })).toMatchObject({ ok: false });
  });

  test('a precision of thousands of digits is rejected', () => {
    expect(compileText("'%.100000f'.format([1.0])")).toMatch(/precision 100000 exceeds 1000/);
  });
});
