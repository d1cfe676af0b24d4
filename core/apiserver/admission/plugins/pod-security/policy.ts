import { invalid, type FieldError } from '../../../../api/field/field-error.ts';
import { key } from '../../../../api/field/field-path.ts';

export type Level = 'privileged' | 'baseline' | 'restricted';

export interface LevelVersion {
  readonly level: Level;
  /** The minor of `v1.<minor>`, or the newest there is. */
  readonly version: number | 'latest';
}

export interface Policy {
  readonly enforce: LevelVersion;
  readonly audit: LevelVersion;
  readonly warn: LevelVersion;
}

const LEVELS: readonly Level[] = ['privileged', 'baseline', 'restricted'];
const PREFIX = 'pod-security.kubernetes.io/';
const VERSION = /^v1\.([0-9]|[1-9][0-9]*)$/;
const PRIVILEGED: LevelVersion = { level: 'privileged', version: 'latest' };

export const levelVersionText = ({ level, version }: LevelVersion): string =>
  `${level}:${version === 'latest' ? version : `v1.${version}`}`;

export const sameLevelVersion = (a: LevelVersion, b: LevelVersion): boolean =>
  a.level === b.level && a.version === b.version;

export const isStricter = (a: Level, b: Level): boolean => LEVELS.indexOf(a) > LEVELS.indexOf(b);

type Labels = Readonly<Record<string, string>>;

/**
 * What the labels of a namespace ask for. A label that cannot be read enforces the strictest, and warns of and audits
 * nothing; the errors say which.
 */
export const policyOf = (labels: Labels = {}): { readonly policy: Policy; readonly errors: FieldError[] } => {
  const errors: FieldError[] = [];
  const wrong = (label: string, value: string, why: string): void =>
    void errors.push(invalid(key('metadata.labels', label), value, why));
  const levelOf = (mode: string, onError: Level): Level | undefined => {
    const label = `${PREFIX}${mode}`;
    const value = labels[label];
    if (value === undefined) return undefined;
    const known = LEVELS.find((level) => level === value);
    if (known === undefined) wrong(label, value, `must be one of ${LEVELS.join(', ')}`);
    return known ?? onError;
  };
  const versionOf = (mode: string): LevelVersion['version'] | undefined => {
    const label = `${PREFIX}${mode}-version`;
    const value = labels[label];
    if (value === undefined || value === 'latest') return value;
    const match = VERSION.exec(value);
    if (!match) wrong(label, value, 'must be "latest" or "v1.x"');
    return match ? Number(match[1]) : 'latest';
  };
  const modeOf = (mode: string, onError: Level): LevelVersion => ({
    level: levelOf(mode, onError) ?? PRIVILEGED.level,
    version: versionOf(mode) ?? PRIVILEGED.version,
  });
  const enforce = modeOf('enforce', 'restricted');
  const audit = modeOf('audit', 'privileged');
  const asked = modeOf('warn', 'privileged');
  const enforceIsValid = LEVELS.some((level) => level === labels[`${PREFIX}enforce`]);
  // Who enforces without a word about warnings is warned at the same level, also by controllers of pods.
  const follows =
    labels[`${PREFIX}warn`] === undefined && enforceIsValid && isStricter(enforce.level, asked.level);
  const warn = follows
    ? {
        level: enforce.level,
        version: labels[`${PREFIX}warn-version`] === undefined ? enforce.version : asked.version,
      }
    : asked;
  return { policy: { enforce, audit, warn }, errors };
};
