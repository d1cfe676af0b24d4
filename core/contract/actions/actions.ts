import * as v from 'valibot';
import type { ActionTraits } from './define.ts';
import { etcdActions } from './etcd-actions.ts';
import { faultActions } from './fault-actions.ts';
import { hostActions } from './host-actions.ts';
import { upkeepActions } from './upkeep-actions.ts';

/** What a person does to a cluster. Each is an operation with steps that continues when the window that asked is closed. */
export const ACTIONS = { ...hostActions, ...faultActions, ...etcdActions, ...upkeepActions };

type Schema = (typeof ACTIONS)[keyof typeof ACTIONS]['schema'];

export const clusterAction = v.variant(
  'kind',
  Object.values(ACTIONS).map(({ schema }): Schema => schema),
);
export type ClusterAction = v.InferOutput<Schema>;

/** What is known about an action before anyone does it. */
export const traitsOf = <A extends ClusterAction>(action: A): ActionTraits<A> =>
  ACTIONS[action.kind].traits as unknown as ActionTraits<A>;
