import { labelSelector, notMoreThan100Percent, positiveIntOrPercent, supportedOnly } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { forbidden, invalid, notSupported, required } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index } from '../../field/field-path.ts';
import { isPathSegmentName, nameIsDnsSubdomain } from '../../field/formats.ts';
import { objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { has, int, maybeObj, num, obj, objs, quantity, str } from '../read.ts';
import type { KindRules } from '../rules.ts';

/** Disruption budgets and autoscalers: how many pods there may be, and how few. */

const META = { namespaced: true, name: nameIsDnsSubdomain };

function budgetSpec(spec: Obj): FieldError[] {
  const { minAvailable, maxUnavailable } = spec;
  const errors: FieldError[] = [];
  if (has(spec, 'minAvailable') && has(spec, 'maxUnavailable'))
    errors.push(invalid('spec', spec, 'minAvailable and maxUnavailable cannot be both set'));
  for (const [name, value] of Object.entries({ minAvailable, maxUnavailable }))
    if (value !== undefined)
      errors.push(
        ...positiveIntOrPercent(child('spec', name), value),
        ...notMoreThan100Percent(child('spec', name), value),
      );
  errors.push(...labelSelector('spec.selector', maybeObj(spec, 'selector')));
  if (has(spec, 'unhealthyPodEvictionPolicy'))
    errors.push(
      ...supportedOnly('spec.unhealthyPodEvictionPolicy', str(spec, 'unhealthyPodEvictionPolicy'), [
        'AlwaysAllow',
        'IfHealthyBudget',
      ]),
    );
  return errors;
}

const BUDGET_META = { namespaced: true, name: isPathSegmentName, allowsBareFinalizers: true };

export const PodDisruptionBudgetRules: KindRules = {
  ...BUDGET_META,
  create: (budget) => [...objectMeta(budget, BUDGET_META), ...budgetSpec(obj(budget, 'spec'))],
  update: (budget, before) => [...objectMetaUpdate(budget, before), ...budgetSpec(obj(budget, 'spec'))],
};

const SOURCES: Readonly<Record<string, string>> = {
  ContainerResource: 'containerResource',
  External: 'external',
  Object: 'object',
  Pods: 'pods',
  Resource: 'resource',
};
const TARGET_TYPES = ['Utilization', 'Value', 'AverageValue'];

function target(path: FieldPath, of: Obj): FieldError[] {
  const type = str(of, 'type');
  const errors = type === '' ? [required(child(path, 'type'), 'must specify a metric target type')] : [];
  if (!TARGET_TYPES.includes(type))
    errors.push(invalid(child(path, 'type'), type, 'must be either Utilization, Value, or AverageValue'));
  for (const name of ['value', 'averageValue']) {
    const amount = has(of, name) ? quantity(of[name]) : undefined;
    if (amount !== undefined && amount.sign !== 1)
      errors.push(invalid(child(path, name), amount.toString(), 'must be positive'));
  }
  const utilization = num(of, 'averageUtilization');
  if (utilization !== undefined && utilization < 1)
    errors.push(invalid(child(path, 'averageUtilization'), utilization, 'must be greater than 0'));
  return errors;
}

function source(path: FieldPath, name: string, of: Obj): FieldError[] {
  const goal = obj(of, 'target');
  const at = child(path, 'target');
  const errors: FieldError[] = [];
  if (name === 'resource' || name === 'containerResource') {
    if (str(of, 'name') === '') errors.push(required(child(path, 'name'), 'must specify a resource name'));
    if (name === 'containerResource' && str(of, 'container') === '')
      errors.push(required(child(path, 'container'), 'must specify a container'));
    errors.push(...target(at, goal));
    if (!has(goal, 'averageUtilization') && !has(goal, 'averageValue'))
      errors.push(
        required(
          child(at, 'averageUtilization'),
          'must set either a target raw value or a target utilization',
        ),
      );
    if (has(goal, 'averageUtilization') && has(goal, 'averageValue'))
      errors.push(
        forbidden(child(at, 'averageValue'), 'may not set both a target raw value and a target utilization'),
      );
    return errors;
  }
  const metric = obj(of, 'metric');
  if (name === 'object')
    errors.push(...reference(child(path, 'describedObject'), obj(of, 'describedObject')));
  if (str(metric, 'name') === '')
    errors.push(required(child(path, 'metric', 'name'), 'must specify a metric name'));
  errors.push(...target(at, goal));
  if (name === 'pods' && !has(goal, 'averageValue'))
    errors.push(required(child(at, 'averageValue'), 'must specify a positive target averageValue'));
  if (name !== 'pods' && !has(goal, 'value') && !has(goal, 'averageValue'))
    errors.push(required(child(at, 'averageValue'), 'must set either a target value or averageValue'));
  return errors;
}

function metric(path: FieldPath, spec: Obj): FieldError[] {
  const type = str(spec, 'type');
  const types = Object.keys(SOURCES);
  const given = Object.values(SOURCES).filter((name) => has(spec, name));
  const [first] = given;
  const errors: FieldError[] = [];
  if (type === '') errors.push(required(child(path, 'type'), 'must specify a metric source type'));
  const expected = SOURCES[type];
  const unknown = expected === undefined ? [notSupported(child(path, 'type'), type, types)] : [];
  errors.push(...unknown);
  if (first !== undefined) errors.push(...source(child(path, first), first, obj(spec, first)));
  // Upstream says it in front of the source and behind it.
  errors.push(...unknown);
  if (expected !== undefined && !given.includes(expected))
    errors.push(required(child(path, expected), 'must populate information for the given metric source'));
  if (given.length !== 1)
    for (const name of given)
      if (name !== expected)
        errors.push(forbidden(child(path, name), 'must populate the given metric source only'));
  return errors;
}

const reference = (path: FieldPath, of: Obj): FieldError[] =>
  ['kind', 'name'].flatMap((name) => {
    const value = str(of, name);
    return value === ''
      ? [required(child(path, name))]
      : isPathSegmentName(value, false).map((message) => invalid(child(path, name), value, message));
  });

/** Upstream's ParseGroupVersion, and that the target has a group: only ReplicationControllers have none. */
const targetVersion = (path: FieldPath, target: Obj): FieldError[] => {
  const apiVersion = str(target, 'apiVersion');
  const at = child(path, 'apiVersion');
  if (apiVersion.split('/').length > 2)
    return [invalid(at, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  return apiVersion.includes('/') || str(target, 'kind') === 'ReplicationController'
    ? []
    : [invalid(at, apiVersion, 'apiVersion must specify API group')];
};

const PERIOD_SECONDS_MAX = 1_800;
const WINDOW_SECONDS_MAX = 3_600;

function scalingRules(path: FieldPath, rules: Obj): FieldError[] {
  const window = num(rules, 'stabilizationWindowSeconds');
  const errors: FieldError[] = [];
  if (window !== undefined && window < 0)
    errors.push(
      invalid(child(path, 'stabilizationWindowSeconds'), window, 'must be greater than or equal to zero'),
    );
  if (window !== undefined && window > WINDOW_SECONDS_MAX)
    errors.push(
      invalid(
        child(path, 'stabilizationWindowSeconds'),
        window,
        `must be less than or equal to ${WINDOW_SECONDS_MAX}`,
      ),
    );
  if (has(rules, 'selectPolicy'))
    errors.push(
      ...supportedOnly(child(path, 'selectPolicy'), str(rules, 'selectPolicy'), ['Disabled', 'Max', 'Min']),
    );
  if (objs(rules, 'policies').length === 0)
    errors.push(required(child(path, 'policies'), 'must specify at least one Policy'));
  objs(rules, 'policies').forEach((policy, i) => {
    const at = index(child(path, 'policies'), i);
    const period = int(policy, 'periodSeconds');
    errors.push(...supportedOnly(child(at, 'type'), str(policy, 'type'), ['Percent', 'Pods']));
    if (int(policy, 'value') <= 0)
      errors.push(invalid(child(at, 'value'), int(policy, 'value'), 'must be greater than zero'));
    if (period <= 0) errors.push(invalid(child(at, 'periodSeconds'), period, 'must be greater than zero'));
    if (period > PERIOD_SECONDS_MAX)
      errors.push(
        invalid(child(at, 'periodSeconds'), period, `must be less than or equal to ${PERIOD_SECONDS_MAX}`),
      );
  });
  return errors;
}

function autoscalerSpec(spec: Obj, before?: Obj): FieldError[] {
  const [target, old] = [obj(spec, 'scaleTargetRef'), obj(before ?? {}, 'scaleTargetRef')];
  // A target that was stored before the rule came stays.
  const isKnown =
    before !== undefined && ['apiVersion', 'kind'].every((name) => str(target, name) === str(old, name));
  const min = num(spec, 'minReplicas');
  const max = int(spec, 'maxReplicas');
  const errors: FieldError[] = [];
  if (min !== undefined && min < 1)
    errors.push(invalid('spec.minReplicas', min, 'must be greater than or equal to 1'));
  if (max === 0) errors.push(required('spec.maxReplicas', 'must be set and greater than 0'));
  else if (max < 0) errors.push(invalid('spec.maxReplicas', max, 'must be greater than or equal to 1'));
  if (min !== undefined && max < min)
    errors.push(invalid('spec.maxReplicas', max, 'must be greater than or equal to `minReplicas`'));
  errors.push(
    ...reference('spec.scaleTargetRef', target),
    ...(isKnown ? [] : targetVersion('spec.scaleTargetRef', target)),
    ...objs(spec, 'metrics').flatMap((of, i) => metric(index('spec.metrics', i), of)),
    ...(num(spec, 'minReplicas') === 0 &&
    !objs(spec, 'metrics').some((of) => ['Object', 'External'].includes(str(of, 'type')))
      ? [
          forbidden(
            'spec.metrics',
            'must specify at least one Object or External metric to support scaling to zero replicas',
          ),
        ]
      : []),
  );
  for (const name of ['scaleUp', 'scaleDown']) {
    const rules = maybeObj(obj(spec, 'behavior'), name);
    if (rules !== undefined) errors.push(...scalingRules(child('spec.behavior', name), rules));
  }
  return errors;
}

export const HorizontalPodAutoscalerRules: KindRules = {
  ...META,
  create: (object) => [...objectMeta(object, META), ...autoscalerSpec(obj(object, 'spec'))],
  update: (object, before) => [
    ...objectMetaUpdate(object, before),
    ...autoscalerSpec(obj(object, 'spec'), obj(before, 'spec')),
  ],
};
