import { oneOf, supportedOnly } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import {
  duplicate,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
} from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index } from '../../field/field-path.ts';
import { byteLength } from '../../field/go-text.ts';
import type { Obj } from '../read.ts';
import { has, isTrue, maybeObj, objs, str } from '../read.ts';

/** What a container says about its restarts and its isolation. */

const RESTARTS = ['Always', 'Never', 'OnFailure'];
const RULE_ACTIONS = ['Restart', 'RestartAllContainers'];
const RULE_OPERATORS = ['In', 'NotIn'];
const RULES_MAX = 20;
const EXIT_CODES_MAX = 255;
const RESIZED = ['cpu', 'memory'];
const RESIZES = ['NotRequired', 'RestartContainer'];
/** PATH_MAX without its end. */
const PROFILE_BYTES_MAX = 4_095;

const bounded = (path: FieldPath, count: number, max: number): FieldError[] =>
  count > max ? [tooMany(path, count, max)] : [];

export function resizePolicy(
  path: FieldPath,
  policies: readonly Obj[],
  podRestartPolicy: string,
): FieldError[] {
  const seen = new Set<string>();
  return policies.flatMap((policy, i) => {
    const [resource, restart] = [str(policy, 'resourceName'), str(policy, 'restartPolicy')];
    const errors: FieldError[] = seen.has(resource) ? [duplicate(index(path, i), resource)] : [];
    seen.add(resource);
    errors.push(...oneOf(path, resource, RESIZED), ...oneOf(path, restart, RESIZES));
    if (podRestartPolicy === 'Never' && restart !== 'NotRequired')
      errors.push(invalid(path, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
    return errors;
  });
}

function restartRule(path: FieldPath, rule: Obj): FieldError[] {
  const errors = supportedOnly(child(path, 'action'), str(rule, 'action'), RULE_ACTIONS);
  const codes = maybeObj(rule, 'exitCodes');
  const at = child(path, 'exitCodes');
  if (codes === undefined) return [...errors, required(at, 'must be specified')];
  const { values } = codes;
  return [
    ...errors,
    ...supportedOnly(child(at, 'operator'), str(codes, 'operator'), RULE_OPERATORS),
    ...bounded(child(at, 'values'), Array.isArray(values) ? values.length : 0, EXIT_CODES_MAX),
  ];
}

export function restartPolicy(path: FieldPath, container: Obj): FieldError[] {
  const rules = objs(container, 'restartPolicyRules');
  const [at, rulesAt] = [child(path, 'restartPolicy'), child(path, 'restartPolicyRules')];
  const errors: FieldError[] = [];
  if (has(container, 'restartPolicy'))
    errors.push(...supportedOnly(at, str(container, 'restartPolicy'), RESTARTS));
  else if (rules.length > 0)
    errors.push(required(at, 'must specify restartPolicy when restart rules are used'));
  return [
    ...errors,
    ...bounded(rulesAt, rules.length, RULES_MAX),
    ...rules.flatMap((rule, i) => restartRule(index(rulesAt, i), rule)),
  ];
}

/** Without a policy only the rules are missing theirs. */
export const initRestartPolicy = (path: FieldPath, container: Obj): FieldError[] =>
  has(container, 'restartPolicy')
    ? restartPolicy(path, container)
    : restartPolicy(path, container).slice(0, 1);

/** Only a sidecar may be restarted to be resized: other init containers run once. */
export const initResizePolicy = (path: FieldPath, container: Obj): FieldError[] =>
  str(container, 'restartPolicy') === 'Always'
    ? []
    : objs(container, 'resizePolicy').flatMap((policy, i) =>
        str(policy, 'restartPolicy') === 'RestartContainer'
          ? [
              invalid(
                child(index(child(path, 'resizePolicy'), i), 'restartPolicy'),
                'RestartContainer',
                "must not be set to 'RestartContainer' for non-sidecar initContainers",
              ),
            ]
          : [],
      );

export function recursiveReadOnly(path: FieldPath, mount: Obj): FieldError[] {
  if (!has(mount, 'recursiveReadOnly')) return [];
  const mode = str(mount, 'recursiveReadOnly');
  if (mode === 'Disabled') return [];
  if (mode !== 'Enabled' && mode !== 'IfPossible')
    return [notSupported(path, mode, ['Disabled', 'Enabled', 'IfPossible'])];
  const isShared = has(mount, 'mountPropagation') && str(mount, 'mountPropagation') !== 'None';
  return [
    ...(isTrue(mount, 'readOnly') ? [] : [forbidden(path, 'may only be specified when readOnly is true')]),
    ...(isShared
      ? [forbidden(path, 'may only be specified when mountPropagation is None or not specified')]
      : []),
  ];
}

export function procMount(path: FieldPath, context: Obj, usesHostUsers: boolean): FieldError[] {
  if (!has(context, 'procMount')) return [];
  const [at, type] = [child(path, 'procMount'), str(context, 'procMount')];
  return [
    ...supportedOnly(at, type, ['Default', 'Unmasked']),
    ...(usesHostUsers && type === 'Unmasked'
      ? [invalid(at, type, '`hostUsers` must be false to use `Unmasked`')]
      : []),
  ];
}

function localProfile(path: FieldPath, profile: Obj): FieldError[] {
  const file = str(profile, 'localhostProfile');
  const missing = required(path, 'must be set when AppArmor type is Localhost');
  if (!has(profile, 'localhostProfile')) return [missing];
  const errors: FieldError[] =
    file !== file.trim()
      ? [invalid(path, file, 'must not be padded with whitespace')]
      : file === ''
        ? [missing]
        : [];
  return byteLength(file) > PROFILE_BYTES_MAX ? [...errors, tooLong(path, PROFILE_BYTES_MAX)] : errors;
}

export function appArmorProfile(path: FieldPath, context: Obj): FieldError[] {
  const profile = maybeObj(context, 'appArmorProfile');
  if (profile === undefined) return [];
  const at = child(path, 'appArmorProfile');
  const [type, fileAt] = [str(profile, 'type'), child(at, 'localhostProfile')];
  switch (type) {
    case 'Localhost':
      return localProfile(fileAt, profile);
    case 'RuntimeDefault':
    case 'Unconfined':
      return has(profile, 'localhostProfile')
        ? [
            invalid(
              fileAt,
              str(profile, 'localhostProfile'),
              'can only be set when AppArmor type is Localhost',
            ),
          ]
        : [];
    case '':
      return [required(child(at, 'type'), 'type is required when appArmorProfile is set')];
    default:
      return [notSupported(child(at, 'type'), type, ['Localhost', 'RuntimeDefault', 'Unconfined'])];
  }
}
