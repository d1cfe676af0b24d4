import { duplicates, format, labelSelector, supportedOnly } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { duplicate, invalid, notSupported, required } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index } from '../../field/field-path.ts';
import { isDns1035Label, isDns1123Subdomain, nameIsDnsSubdomain } from '../../field/formats.ts';
import { objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { has, maybeObj, num, obj, objs, sameValue, str, strs } from '../read.ts';
import type { KindRules } from '../rules.ts';
import {
  FAILURE_POLICIES,
  joined,
  MATCH_POLICIES,
  matchConditions,
  REINVOCATION_POLICIES,
  ruleWithOperations,
} from './admission-matching.ts';
import { isReviewVersionKnown, REVIEW_VERSIONS, webhookClient } from './webhook-clients.ts';

const META = { namespaced: false, name: nameIsDnsSubdomain, allowsBareFinalizers: true };
const NO_SIDE_EFFECTS = ['None', 'NoneOnDryRun'];
const SIDE_EFFECTS = [...NO_SIDE_EFFECTS, 'Some', 'Unknown'];
const TIMEOUT_SECONDS_MAX = 30;
const SEGMENTS_MIN = 3;

/** What is asked of a configuration. One that was stored under older rules may stay as it is. */
interface Strictness {
  readonly needsNoSideEffects: boolean;
  readonly needsKnownVersion: boolean;
  readonly needsUniqueNames: boolean;
  readonly allowsInvalidSelectors: boolean;
  readonly ignoresMatchConditions: boolean;
}

const STRICT: Strictness = {
  needsNoSideEffects: true,
  needsKnownVersion: true,
  needsUniqueNames: true,
  allowsInvalidSelectors: false,
  ignoresMatchConditions: false,
};

const hooksOf = (configuration: Obj): readonly Obj[] => objs(configuration, 'webhooks');
const SELECTORS = ['namespaceSelector', 'objectSelector'];

const hasInvalidSelector = (hook: Obj): boolean =>
  SELECTORS.some((name) => labelSelector(name, maybeObj(hook, name)).length > 0);

const strictnessAfter = (before: Obj, after: Obj): Strictness => {
  const [old, hooks] = [hooksOf(before), hooksOf(after)];
  return {
    needsNoSideEffects: old.every((hook) => NO_SIDE_EFFECTS.includes(str(hook, 'sideEffects'))),
    needsKnownVersion: old.every((hook) => {
      const versions = strs(hook, 'admissionReviewVersions');
      return versions.length === 0 || isReviewVersionKnown(versions);
    }),
    needsUniqueNames: new Set(old.map((hook) => str(hook, 'name'))).size === old.length,
    allowsInvalidSelectors: old.some(hasInvalidSelector),
    ignoresMatchConditions:
      old.length === hooks.length &&
      old.every((hook, i) => sameValue(hook['matchConditions'], hooks[i]!['matchConditions'])),
  };
};

function hookName(path: FieldPath, name: string): FieldError[] {
  if (name === '') return [required(path)];
  const wrong = joined(path, name, isDns1123Subdomain(name));
  if (wrong.length > 0 || name.split('.').length >= SEGMENTS_MIN) return wrong;
  return [invalid(path, name, 'should be a domain with at least three segments separated by dots')];
}

function sideEffects(path: FieldPath, hook: Obj, { needsNoSideEffects }: Strictness): FieldError[] {
  const allowed = needsNoSideEffects ? NO_SIDE_EFFECTS : SIDE_EFFECTS;
  if (!has(hook, 'sideEffects')) return [required(path, `must specify one of ${allowed.join(', ')}`)];
  const value = str(hook, 'sideEffects');
  return allowed.includes(value) ? [] : [notSupported(path, value, allowed)];
}

function reviewVersions(path: FieldPath, versions: readonly string[], strict: Strictness): FieldError[] {
  const known = REVIEW_VERSIONS.join(', ');
  if (versions.length === 0) return [required(path, `must specify one of ${known}`)];
  return [
    ...versions.flatMap((version, i) =>
      versions.indexOf(version) < i
        ? [invalid(index(path, i), version, 'duplicate version')]
        : format(index(path, i), version, isDns1035Label),
    ),
    ...(strict.needsKnownVersion && !isReviewVersionKnown(versions)
      ? [invalid(path, versions, `must include at least one of ${known}`)]
      : []),
  ];
}

function webhook(path: FieldPath, hook: Obj, isMutating: boolean, strict: Strictness): FieldError[] {
  const timeoutSeconds = num(hook, 'timeoutSeconds');
  const supported = (name: string, values: readonly string[]): FieldError[] =>
    has(hook, name) ? supportedOnly(child(path, name), str(hook, name), values) : [];
  const allowsInvalidValues = strict.allowsInvalidSelectors;
  return [
    ...hookName(child(path, 'name'), str(hook, 'name')),
    ...objs(hook, 'rules').flatMap((rule, i) => ruleWithOperations(index(child(path, 'rules'), i), rule)),
    ...supported('failurePolicy', FAILURE_POLICIES),
    ...supported('matchPolicy', MATCH_POLICIES),
    ...sideEffects(child(path, 'sideEffects'), hook, strict),
    ...(timeoutSeconds !== undefined && (timeoutSeconds > TIMEOUT_SECONDS_MAX || timeoutSeconds < 1)
      ? [
          invalid(
            child(path, 'timeoutSeconds'),
            timeoutSeconds,
            'the timeout value must be between 1 and 30 seconds',
          ),
        ]
      : []),
    ...SELECTORS.flatMap((name) =>
      labelSelector(child(path, name), maybeObj(hook, name), { allowsInvalidValues }),
    ),
    ...(isMutating ? supported('reinvocationPolicy', REINVOCATION_POLICIES) : []),
    ...webhookClient(child(path, 'clientConfig'), obj(hook, 'clientConfig')),
    ...(strict.ignoresMatchConditions
      ? []
      : matchConditions(child(path, 'matchConditions'), objs(hook, 'matchConditions'))),
    ...reviewVersions(child(path, 'admissionReviewVersions'), strs(hook, 'admissionReviewVersions'), strict),
  ];
}

function configuration(object: Obj, isMutating: boolean, strict: Strictness): FieldError[] {
  const hooks = hooksOf(object);
  const names = hooks.map((hook) => str(hook, 'name'));
  const repeated = duplicates(names, (i) => child(index('webhooks', i), 'name'), duplicate);
  return [
    ...objectMeta(object, META),
    ...hooks.flatMap((hook, i) => webhook(index('webhooks', i), hook, isMutating, strict)),
    ...(strict.needsUniqueNames ? repeated.filter(({ badValue }) => badValue !== '') : []),
  ];
}

const rulesFor = (isMutating: boolean): KindRules => ({
  ...META,
  create: (object) => configuration(object, isMutating, STRICT),
  update: (object, before) => [
    ...objectMetaUpdate(object, before),
    ...configuration(object, isMutating, strictnessAfter(before, object)),
  ],
});

export const MutatingWebhookConfigurationRules = rulesFor(true);
export const ValidatingWebhookConfigurationRules = rulesFor(false);
