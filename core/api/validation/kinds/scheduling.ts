import { format, labelSelector, operatorErrors, positive, qualifiedName, supportedOnly } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { duplicate, invalid, notSupported, required } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index } from '../../field/field-path.ts';
import { isLabelValue, nameIsDnsLabel, nameIsDnsSubdomain } from '../../field/formats.ts';
import type { Obj } from '../read.ts';
import { has, int, maybeObj, num, obj, objs, str, strs } from '../read.ts';

/** Tolerations, affinity and spread: what a pod asks of the scheduler. */

export const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function tolerations(path: FieldPath, list: readonly Obj[]): FieldError[] {
  return list.flatMap((toleration, i) => {
    const at = index(path, i);
    const tolerationKey = str(toleration, 'key');
    const operator = str(toleration, 'operator');
    const value = str(toleration, 'value');
    const effect = str(toleration, 'effect');
    const errors = tolerationKey === '' ? [] : qualifiedName(child(at, 'key'), tolerationKey);
    if (tolerationKey === '' && operator !== 'Exists')
      errors.push(
        invalid(
          child(at, 'operator'),
          operator,
          'operator must be Exists when `key` is empty, which means "match all values and all keys"',
        ),
      );
    if (has(toleration, 'tolerationSeconds') && effect !== 'NoExecute')
      errors.push(
        invalid(child(at, 'effect'), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"),
      );
    if (operator === 'Equal' || operator === '') {
      const wrong = isLabelValue(value);
      if (wrong.length > 0) errors.push(invalid(child(at, 'operator'), value, wrong.join(';')));
    } else if (operator === 'Exists') {
      if (value !== '')
        errors.push(invalid(child(at, 'operator'), value, "value must be empty when `operator` is 'Exists'"));
    } else {
      errors.push(notSupported(child(at, 'operator'), operator, ['Equal', 'Exists']));
    }
    return effect === '' ? errors : [...errors, ...supportedOnly(child(at, 'effect'), effect, TAINT_EFFECTS)];
  });
}

function nodeSelectorRequirement(path: FieldPath, requirement: Obj, checkValues: boolean): FieldError[] {
  const operator = str(requirement, 'operator');
  const values = strs(requirement, 'values');
  const errors =
    operator === 'Gt' || operator === 'Lt'
      ? values.length === 1
        ? []
        : [required(child(path, 'values'), "must be specified single value when `operator` is 'Lt' or 'Gt'")]
      : operatorErrors(path, operator, values);
  return [
    ...errors,
    ...qualifiedName(child(path, 'key'), str(requirement, 'key')),
    ...(checkValues
      ? values.flatMap((value, i) => format(index(child(path, 'values'), i), value, isLabelValue))
      : []),
  ];
}

function nodeFieldRequirement(path: FieldPath, requirement: Obj): FieldError[] {
  const operator = str(requirement, 'operator');
  const values = strs(requirement, 'values');
  const name = str(requirement, 'key');
  const errors: FieldError[] = [];
  if (operator !== 'In' && operator !== 'NotIn')
    errors.push(invalid(child(path, 'operator'), operator, 'not a valid selector operator'));
  else if (values.length !== 1)
    errors.push(
      required(
        child(path, 'values'),
        "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
      ),
    );
  if (name !== 'metadata.name')
    return [...errors, invalid(child(path, 'key'), name, 'not a valid field selector key')];
  return [
    ...errors,
    ...values.flatMap((value, i) =>
      nameIsDnsSubdomain(value, false).map((message) =>
        invalid(index(child(path, 'values'), i), value, message),
      ),
    ),
  ];
}

export function nodeSelectorTerm(path: FieldPath, term: Obj, checkValues: boolean): FieldError[] {
  return [
    ...objs(term, 'matchExpressions').flatMap((requirement, i) =>
      nodeSelectorRequirement(index(child(path, 'matchExpressions'), i), requirement, checkValues),
    ),
    ...objs(term, 'matchFields').flatMap((requirement, i) =>
      nodeFieldRequirement(index(child(path, 'matchFields'), i), requirement),
    ),
  ];
}

export function nodeSelector(path: FieldPath, selector: Obj): FieldError[] {
  const terms = objs(selector, 'nodeSelectorTerms');
  const at = child(path, 'nodeSelectorTerms');
  if (terms.length === 0) return [required(at, 'must have at least one node selector term')];
  return terms.flatMap((term, i) => nodeSelectorTerm(index(at, i), term, true));
}

const weight = (path: FieldPath, term: Obj): FieldError[] => {
  const value = int(term, 'weight');
  return value >= 1 && value <= 100
    ? []
    : [invalid(child(path, 'weight'), value, 'must be in the range 1-100')];
};

function podAffinityTerm(path: FieldPath, term: Obj): FieldError[] {
  const topologyKey = str(term, 'topologyKey');
  return [
    ...labelSelector(child(path, 'labelSelector'), maybeObj(term, 'labelSelector')),
    ...labelSelector(child(path, 'namespaceSelector'), maybeObj(term, 'namespaceSelector')),
    ...strs(term, 'namespaces').flatMap((name) =>
      nameIsDnsLabel(name, false).map((message) => invalid(child(path, 'namespace'), name, message)),
    ),
    ...(topologyKey === '' ? [required(child(path, 'topologyKey'), 'can not be empty')] : []),
    ...qualifiedName(child(path, 'topologyKey'), topologyKey),
  ];
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

const podAffinity = (path: FieldPath, rules: Obj): FieldError[] => [
  ...objs(rules, REQUIRED).flatMap((term, i) => podAffinityTerm(index(child(path, REQUIRED), i), term)),
  ...objs(rules, PREFERRED).flatMap((term, i) => {
    const at = index(child(path, PREFERRED), i);
    return [
      ...weight(at, term),
      ...podAffinityTerm(child(at, 'podAffinityTerm'), obj(term, 'podAffinityTerm')),
    ];
  }),
];

export function affinity(path: FieldPath, rules: Obj): FieldError[] {
  const node = maybeObj(rules, 'nodeAffinity');
  const nodePath = child(path, 'nodeAffinity');
  const mustMatch = node && maybeObj(node, REQUIRED);
  return [
    ...(mustMatch === undefined ? [] : nodeSelector(child(nodePath, REQUIRED), mustMatch)),
    ...(node === undefined ? [] : objs(node, PREFERRED)).flatMap((term, i) => {
      const at = index(child(nodePath, PREFERRED), i);
      return [
        ...weight(at, term),
        ...nodeSelectorTerm(child(at, 'preference'), obj(term, 'preference'), false),
      ];
    }),
    ...podAffinity(child(path, 'podAffinity'), obj(rules, 'podAffinity')),
    ...podAffinity(child(path, 'podAntiAffinity'), obj(rules, 'podAntiAffinity')),
  ];
}

const SCHEDULE_ACTIONS = ['DoNotSchedule', 'ScheduleAnyway'];

export function topologySpread(path: FieldPath, list: readonly Obj[]): FieldError[] {
  return list.flatMap((constraint, i) => {
    const at = index(path, i);
    const topologyKey = str(constraint, 'topologyKey');
    const action = str(constraint, 'whenUnsatisfiable');
    const minDomains = num(constraint, 'minDomains');
    const repeats = list
      .slice(i + 1)
      .some(
        (other) => str(other, 'topologyKey') === topologyKey && str(other, 'whenUnsatisfiable') === action,
      );
    const errors = positive(child(at, 'maxSkew'), int(constraint, 'maxSkew'));
    if (topologyKey === '') errors.push(required(child(at, 'topologyKey'), 'can not be empty'));
    errors.push(...supportedOnly(child(at, 'whenUnsatisfiable'), action, SCHEDULE_ACTIONS));
    if (repeats)
      errors.push(duplicate(child(at, '{topologyKey, whenUnsatisfiable}'), `{${topologyKey}, ${action}}`));
    if (minDomains !== undefined) {
      errors.push(...positive(child(at, 'minDomains'), minDomains));
      if (action !== 'DoNotSchedule')
        errors.push(
          invalid(
            child(at, 'minDomains'),
            minDomains,
            `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`,
          ),
        );
    }
    for (const policy of ['nodeAffinityPolicy', 'nodeTaintsPolicy'])
      if (has(constraint, policy))
        errors.push(...supportedOnly(child(at, policy), str(constraint, policy), ['Honor', 'Ignore']));
    return [...errors, ...labelSelector(child(at, 'labelSelector'), maybeObj(constraint, 'labelSelector'))];
  });
}
