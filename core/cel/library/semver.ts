import type { UnitEquality } from '../cost/runtime.ts';
import { BOOL, INT, STRING, structOf } from '../types/type.ts';
import type { SelfEqual } from '../values/compare.ts';
import { goQuote } from '../values/go-text.ts';
import { UINT_MAX, intOf } from '../values/integers.ts';
import { CelError, CelObject, NO_SUCH_OVERLOAD, type Value, error } from '../values/value.ts';
import { type Library, global, member } from './declare.ts';

const SEMVER_TYPE = structOf('kubernetes.Semver');

type PreRelease = string | bigint;
interface Version {
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly preRelease: readonly PreRelease[];
}

/** Thrown by the parser with the text that upstream has for it. */
class VersionError extends Error {
  override readonly name = 'VersionError';
}
const fail = (message: string): never => {
  throw new VersionError(message);
};

const number = (text: string): bigint => {
  const value = BigInt(text.length > 40 ? `1${'0'.repeat(40)}` : text);
  return value > UINT_MAX ? fail(`strconv.ParseUint: parsing ${goQuote(text)}: value out of range`) : value;
};

const versionNumber = (part: string, name: string): bigint => {
  if (!/^[0-9]*$/.test(part))
    fail(`Invalid character(s) found in ${name.toLowerCase()} number ${goQuote(part)}`);
  if (/^0[0-9]/.test(part)) fail(`${name} number must not contain leading zeroes ${goQuote(part)}`);
  if (part === '') fail('strconv.ParseUint: parsing "": invalid syntax');
  return number(part);
};

const preReleaseOf = (part: string): PreRelease => {
  if (part === '') fail('Prerelease is empty');
  if (/^[0-9]+$/.test(part)) {
    if (/^0[0-9]/.test(part))
      fail(`Numeric PreRelease version must not contain leading zeroes ${goQuote(part)}`);
    return number(part);
  }
  return /^[0-9A-Za-z-]+$/.test(part)
    ? part
    : fail(`Invalid character(s) found in prerelease ${goQuote(part)}`);
};

const checkBuild = (part: string): void => {
  if (part === '') fail('Build meta data is empty');
  if (!/^[0-9A-Za-z-]+$/.test(part)) fail(`Invalid character(s) found in build meta data ${goQuote(part)}`);
};

const cut = (text: string, separator: string): readonly [string, string | undefined] => {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
};

const splitThree = (text: string): string[] => {
  const [first, rest] = cut(text, '.');
  const [second, third] = rest === undefined ? [undefined, undefined] : cut(rest, '.');
  return [first, second, third].filter((part) => part !== undefined);
};

const parseStrict = (text: string): Version => {
  if (text === '') fail('Version string empty');
  const [major, minor, rest] = splitThree(text);
  if (major === undefined || minor === undefined || rest === undefined)
    return fail('No Major.Minor.Patch elements found');
  const numbers = [versionNumber(major, 'Major'), versionNumber(minor, 'Minor')] as const;
  const [beforeBuild, build] = cut(rest, '+');
  const [patch, preRelease] = cut(beforeBuild, '-');
  const last = versionNumber(patch, 'Patch');
  const parts = preRelease?.split('.').map(preReleaseOf) ?? [];
  build?.split('.').forEach(checkBuild);
  return { numbers: [...numbers, last], preRelease: parts };
};

/** Accepts `v1.02` for `1.2.0`. */
const normalized = (text: string): string => {
  const parts = splitThree(text.replace(/^v/, '')).map((part) => {
    if (part.length <= 1) return part;
    const trimmed = part.replace(/^0+/, '');
    return /^[0-9]/.test(trimmed) ? trimmed : `0${trimmed}`;
  });
  if (parts.length < 3 && /[+-]/.test(parts.at(-1)!))
    fail('short version cannot contain PreRelease/Build meta data');
  while (parts.length < 3) parts.push('0');
  return parts.join('.');
};

const parse = (text: string, isLoose = false): Version | CelError => {
  try {
    return parseStrict(isLoose ? normalized(text) : text);
  } catch (thrown) {
    if (thrown instanceof VersionError) return error(thrown.message);
    throw thrown;
  }
};

const order = <T>(a: T, b: T): number => (a < b ? -1 : a > b ? 1 : 0);

const comparePreReleases = (a: readonly PreRelease[], b: readonly PreRelease[]): number => {
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const [x, y] = [a[at]!, b[at]!];
    if (typeof x !== typeof y) return typeof x === 'bigint' ? -1 : 1;
    const result = order(x, y);
    if (result !== 0) return result;
  }
  return Math.sign(a.length - b.length);
};

const compareVersions = (a: Version, b: Version): number => {
  for (let at = 0; at < 3; at++) {
    const result = order(a.numbers[at]!, b.numbers[at]!);
    if (result !== 0) return result;
  }
  // A version with a pre-release comes before the one without.
  if (a.preRelease.length === 0 && b.preRelease.length > 0) return 1;
  if (a.preRelease.length > 0 && b.preRelease.length === 0) return -1;
  return comparePreReleases(a.preRelease, b.preRelease);
};

class CelSemver extends CelObject implements SelfEqual, UnitEquality {
  readonly type = SEMVER_TYPE;
  readonly hasUnitEquality = true;
  readonly version: Version;

  constructor(version: Version) {
    super();
    this.version = version;
  }
  equals(other: Value): boolean | CelError {
    if (!(other instanceof CelSemver)) return other instanceof CelError ? other : NO_SUCH_OVERLOAD;
    return compareVersions(this.version, other.version) === 0;
  }
}

const toSemver = (text: string, isLoose?: boolean): Value => {
  const version = parse(text, isLoose);
  return version instanceof CelError ? version : new CelSemver(version);
};
const isSemver = (text: string, isLoose?: boolean): Value => !(parse(text, isLoose) instanceof CelError);
const compare = (a: CelSemver, b: CelSemver): number => compareVersions(a.version, b.version);
const numberAt =
  (index: 0 | 1 | 2) =>
  ({ version }: CelSemver): Value =>
    intOf(BigInt.asIntN(64, version.numbers[index]));

const S = SEMVER_TYPE;

/** Semantic versions. */
export const KUBERNETES_SEMVER: Library = {
  name: 'kubernetes.semver',
  overloads: [
    global(['semver', 'string_to_semver', [STRING], S], toSemver),
    global(['semver', 'string_bool_to_semver', [STRING, BOOL], S], toSemver),
    global(['isSemver', 'is_semver_string', [STRING], BOOL], isSemver),
    global(['isSemver', 'is_semver_string_bool', [STRING, BOOL], BOOL], isSemver),
    member(['isGreaterThan', 'semver_is_greater_than', [S, S], BOOL], (a, b) => compare(a, b) > 0),
    member(['isLessThan', 'semver_is_less_than', [S, S], BOOL], (a, b) => compare(a, b) < 0),
    member(['compareTo', 'semver_compare_to', [S, S], INT], compare),
    member(['major', 'semver_major', [S], INT], numberAt(0)),
    member(['minor', 'semver_minor', [S], INT], numberAt(1)),
    member(['patch', 'semver_patch', [S], INT], numberAt(2)),
  ],
};
