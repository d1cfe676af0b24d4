import { GATE_DEPENDENCIES } from './gate-dependencies.ts';
import type { GateSpec, Release } from './release.ts';

/** Which features are on: those of the release, changed by `--feature-gates`. */
export interface FeatureGates {
  isEnabled(name: string): boolean;
  /** What was set, by name. */
  readonly settings: Readonly<Record<string, boolean>>;
  /** What upstream warns of when a gate is set that will go. */
  readonly warnings: readonly string[];
}

export interface GateProblem {
  readonly problem: string;
}

const ALL: Readonly<Record<string, GateSpec['stage']>> = { AllAlpha: 'ALPHA', AllBeta: 'BETA' };
/** As Go's strconv.ParseBool reads them. */
const TRUE = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'FALSE', 'false', 'False']);

const missingDependencies = (isEnabled: (name: string) => boolean): readonly string[] =>
  GATE_DEPENDENCIES.trim()
    .split('\n')
    .flatMap((line) => {
      const [name = '', ...needed] = line.split(' ');
      const missing = isEnabled(name) ? needed.filter((one) => !isEnabled(one)) : [];
      return missing.length === 0
        ? []
        : [`${name} is enabled, but depends on features that are disabled: [${missing.join(' ')}]`];
    });

/** What a release does without the flag. */
export const defaultGates = ({ gates }: Release): FeatureGates => ({
  isEnabled: (name) => gates.get(name)?.isDefault ?? false,
  settings: {},
  warnings: [],
});

const parseSetting = (text: string): { readonly name: string; readonly isOn: boolean } | GateProblem => {
  const setting = text.trim().replace(/^kube:/, '');
  const equals = setting.indexOf('=');
  const name = (equals < 0 ? setting : setting.slice(0, equals)).trim();
  if (name.includes(':')) return { problem: `component not registered: ${name.split(':')[0]}` };
  if (equals < 0) return { problem: `missing bool value for ${name}` };
  const value = setting.slice(equals + 1).trim();
  if (TRUE.has(value)) return { name, isOn: true };
  if (FALSE.has(value)) return { name, isOn: false };
  return {
    problem: `invalid value of ${name}=${value}, err: strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`,
  };
};

/**
 * The gates that `--feature-gates` settings ask for, or what is wrong with them, in upstream's words. `switches` are the
 * gates that this component can turn; every other one has to stay as the release has it, and is rejected otherwise.
 */
export const readGates = (
  settings: readonly string[],
  release: Release,
  switches: ReadonlySet<string>,
): FeatureGates | GateProblem => {
  const set = new Map<string, boolean>();
  const warnings: string[] = [];
  const turn = (name: string, isOn: boolean): GateProblem | undefined => {
    const spec = release.gates.get(name);
    if (!release.gates.has(name)) return { problem: `unrecognized feature gate: ${name}` };
    if (!spec)
      return {
        problem: `cannot set feature gate ${name} to ${isOn}, feature is PreAlpha at emulated version 1.${release.minor}, min compatibility version 1.${release.minor - 1}`,
      };
    if (spec.isLocked && spec.isDefault !== isOn)
      return {
        problem: `cannot set feature gate ${name} to ${isOn}, feature is locked to ${spec.isDefault}`,
      };
    if (spec.isDefault !== isOn && !switches.has(name))
      return {
        problem: `${name}=${isOn} is not supported: this component has the default of Kubernetes 1.${release.minor} (${name}=${spec.isDefault}); gates that can be changed: ${[...switches].join(', ')}`,
      };
    set.set(name, isOn);
    if (spec.stage === 'GA' || spec.stage === 'DEPRECATED') {
      const stage = spec.stage === 'GA' ? 'GA' : 'deprecated';
      warnings.push(`setting ${stage} feature gate ${name}=${isOn}. It will be removed in a future release.`);
    }
    return undefined;
  };
  for (const text of settings) {
    if (text.trim() === '') continue;
    const setting = parseSetting(text);
    if ('problem' in setting) return setting;
    const stage = ALL[setting.name];
    const names =
      stage === undefined
        ? [setting.name]
        : [...release.gates].flatMap(([name, spec]) =>
            spec?.stage === stage && spec.isDefault !== setting.isOn ? [name] : [],
          );
    for (const name of names) {
      const problem = turn(name, setting.isOn);
      if (problem) return problem;
    }
  }
  const byDefault = defaultGates(release);
  const isEnabled = (name: string): boolean => set.get(name) ?? byDefault.isEnabled(name);
  const problems = set.size === 0 ? [] : missingDependencies(isEnabled);
  if (problems.length > 0)
    return { problem: problems.length === 1 ? problems[0]! : `[${problems.join(', ')}]` };
  return {
    isEnabled,
    settings: Object.fromEntries(set),
    warnings,
  };
};
