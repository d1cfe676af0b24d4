import type { KubernetesObject } from '../../../api/meta/index.ts';
import { obj, objs, type Obj } from '../../../api/validation/read.ts';

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export const conditionsOf = (definition: KubernetesObject): readonly Obj[] =>
  objs(obj(definition, 'status'), 'conditions');

export const conditionOf = (definition: KubernetesObject, type: string): Obj | undefined =>
  conditionsOf(definition).find((condition) => condition['type'] === type);

const isSame = (known: Obj | undefined, wanted: Condition): boolean =>
  known !== undefined &&
  known['status'] === wanted.status &&
  known['reason'] === wanted.reason &&
  known['message'] === wanted.message;

/** The conditions with others set among them; a time moves with its status only. */
export const withConditions = (
  known: readonly Obj[],
  wanted: readonly Condition[],
  now: string,
): readonly Obj[] => {
  let result = known;
  for (const condition of wanted) {
    const at = result.findIndex(({ type }) => type === condition.type);
    const before = result[at];
    if (isSame(before, condition)) continue;
    const lastTransitionTime =
      before?.['status'] === condition.status ? (before['lastTransitionTime'] ?? now) : now;
    const next = { ...condition, lastTransitionTime };
    result = before === undefined ? [...result, next] : result.with(at, next);
  }
  return result;
};
