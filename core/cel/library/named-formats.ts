import type { PatternSized, UnitEquality } from '../cost/runtime.ts';
import { STRING, listOf, optionalOf, structOf } from '../types/type.ts';
import type { SelfEqual } from '../values/compare.ts';
import { ArrayList } from '../values/lists.ts';
import { parseDate, parseTimestamp } from '../values/time.ts';
import {
  CelError,
  CelObject,
  CelOptional,
  CelTimestamp,
  NO_SUCH_OVERLOAD,
  type Value,
} from '../values/value.ts';
import { type Library, global, member } from './declare.ts';
import { parseUrl } from './go-url.ts';
import {
  label1035Problems,
  labelProblems,
  labelValueProblems,
  qualifiedNameProblems,
  subdomainProblems,
} from './name-formats.ts';

const FORMAT_TYPE = structOf('kubernetes.NamedFormat');

class CelFormat extends CelObject implements SelfEqual, UnitEquality, PatternSized {
  readonly type = FORMAT_TYPE;
  readonly hasUnitEquality = true;
  readonly formatName: string;
  readonly patternLength: number;
  readonly problems: (text: string) => string[];

  constructor(formatName: string, patternLength: number, problems: (text: string) => string[]) {
    super();
    this.formatName = formatName;
    this.patternLength = patternLength;
    this.problems = problems;
  }
  equals(other: Value): boolean | CelError {
    if (!(other instanceof CelFormat)) return other instanceof CelError ? other : NO_SUCH_OVERLOAD;
    return this.formatName === other.formatName;
  }
}

const unless =
  (holds: (text: string) => boolean, problem: string) =>
  (text: string): string[] =>
    holds(text) ? [] : [problem];

const UUID = /^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;

const uriProblems = (text: string): string[] => {
  const url = parseUrl(text);
  return typeof url === 'string' ? [url] : [];
};
const isDateTime = (text: string): boolean => parseTimestamp(text) instanceof CelTimestamp;

/** Lengths of the patterns are upstream's, because costs follow from them. */
const UUID_PATTERN_LENGTH = 70;
const DATE_TIME_PATTERN_LENGTH = 71;

const FORMATS: Readonly<Record<string, CelFormat>> = {
  dns1123Label: new CelFormat('DNS1123Label', 30, (text) => labelProblems(text)),
  dns1123Subdomain: new CelFormat('DNS1123Subdomain', 60, (text) => subdomainProblems(text)),
  dns1035Label: new CelFormat('DNS1035Label', 30, (text) => label1035Problems(text)),
  qualifiedName: new CelFormat('QualifiedName', 60, qualifiedNameProblems),
  dns1123LabelPrefix: new CelFormat('DNS1123LabelPrefix', 30, (text) => labelProblems(text, true)),
  dns1123SubdomainPrefix: new CelFormat('DNS1123SubdomainPrefix', 60, (text) =>
    subdomainProblems(text, true),
  ),
  dns1035LabelPrefix: new CelFormat('DNS1035LabelPrefix', 30, (text) => label1035Problems(text, true)),
  labelValue: new CelFormat('LabelValue', 40, labelValueProblems),
  uri: new CelFormat('URI', 1103, uriProblems),
  uuid: new CelFormat(
    'uuid',
    UUID_PATTERN_LENGTH,
    unless((text) => UUID.test(text), 'does not match the UUID format'),
  ),
  byte: new CelFormat(
    'byte',
    84,
    unless((text) => BASE64.test(text), 'invalid base64'),
  ),
  date: new CelFormat(
    'date',
    DATE_TIME_PATTERN_LENGTH,
    unless((text) => parseDate(text) !== undefined, 'invalid date'),
  ),
  datetime: new CelFormat('datetime', DATE_TIME_PATTERN_LENGTH, unless(isDateTime, 'invalid datetime')),
};

const validate = (format: CelFormat, text: string): Value => {
  const found = format.problems(text);
  return found.length === 0 ? CelOptional.none : CelOptional.of(new ArrayList(found));
};

/** Formats of names and other strings, by name. */
export const KUBERNETES_FORMAT: Library = {
  name: 'kubernetes.format',
  overloads: [
    ...Object.entries(FORMATS).map(([name, format]) =>
      global([`format.${name}`, `format.${name}`, [], FORMAT_TYPE], () => format),
    ),
    member(['validate', 'format-validate', [FORMAT_TYPE, STRING], optionalOf(listOf(STRING))], validate),
    global(['format.named', 'format-named', [STRING], optionalOf(FORMAT_TYPE)], (name: string) =>
      Object.hasOwn(FORMATS, name) ? CelOptional.of(FORMATS[name]!) : CelOptional.none,
    ),
  ],
};
