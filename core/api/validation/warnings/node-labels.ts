import { isLabelValue } from '../../field/formats.ts';
import { child, index, type FieldPath } from '../../field/field-path.ts';
import { objs, str, strs, type Obj } from '../read.ts';

const DEPRECATED_LABELS: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  [
    'failure-domain.beta.kubernetes.io/region',
    'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  ],
  [
    'failure-domain.beta.kubernetes.io/zone',
    'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  ],
  [
    'beta.kubernetes.io/instance-type',
    'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  ],
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  [
    'scheduler.alpha.kubernetes.io/preferAvoidPods',
    'deprecated since v1.22; use Taints and Tolerations instead',
  ],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
]);

/** What upstream says of a label of nodes that is used no more. */
export const deprecatedLabel = (label: string): string | undefined => DEPRECATED_LABELS.get(label);

export const nodeSelectorTermWarnings = (
  path: FieldPath,
  term: Obj,
  { checksValues }: { readonly checksValues: boolean },
): string[] =>
  objs(term, 'matchExpressions').flatMap((expression, at) => {
    const inside = index(child(path, 'matchExpressions'), at);
    const name = str(expression, 'key');
    const message = deprecatedLabel(name);
    return [
      ...(message === undefined ? [] : [`${child(inside, 'key')}: ${name} is ${message}`]),
      ...(checksValues ? strs(expression, 'values') : []).flatMap((value, number) =>
        isLabelValue(value).map(
          (wrong) => `${index(child(inside, 'values'), number)}: ${value} is invalid, ${wrong}`,
        ),
      ),
    ];
  });
