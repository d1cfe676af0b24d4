import { formatTime } from '../../../api/meta/index.ts';
import { obj, objs, str, type Obj } from '../../../api/validation/read.ts';
import type { Strategy } from '../generic/strategy.ts';
import { restore } from './spec-status.ts';

const DECISIONS = ['Approved', 'Denied'];

const withTimes = (status: Obj, before: Obj, nowMs: number): Obj => {
  if (status['conditions'] === undefined) return status;
  const now = formatTime(nowMs);
  const known = objs(before, 'conditions');
  const conditions = objs(status, 'conditions').map((condition) => {
    const same = known.find(
      (one) =>
        str(one, 'type') === str(condition, 'type') &&
        str(one, 'status') === str(condition, 'status') &&
        str(one, 'lastTransitionTime') !== '',
    );
    return {
      ...condition,
      lastUpdateTime: condition['lastUpdateTime'] ?? now,
      lastTransitionTime: condition['lastTransitionTime'] ?? same?.['lastTransitionTime'] ?? now,
    };
  });
  return { ...status, conditions };
};

/** Decisions are made at `/approval` only: a status that brings as many of them keeps those that are there. */
const withDecisionsKept = (status: Obj, before: Obj): Obj => {
  if (status['conditions'] === undefined) return status;
  let conditions = [...objs(status, 'conditions')];
  for (const type of DECISIONS) {
    const kept = objs(before, 'conditions').filter((one) => str(one, 'type') === type);
    if (conditions.filter((one) => str(one, 'type') === type).length !== kept.length) continue;
    conditions = conditions.map((one) => (str(one, 'type') === type ? kept.shift()! : one));
  }
  return { ...status, conditions };
};

export const certificateRequestStrategy: Strategy = {
  resetFields: [['spec'], ['status']],
  /** Who asks is what the server saw, not what the request says. */
  prepareForCreate(draft, { user }) {
    const {
      username: _name,
      uid: _uid,
      groups: _groups,
      extra: _extra,
      ...spec
    } = obj(draft, 'spec') as Record<string, unknown>;
    draft['spec'] = {
      ...spec,
      username: user.name,
      ...(user.uid !== '' && { uid: user.uid }),
      ...(user.groups.length > 0 && { groups: [...user.groups] }),
      ...(Object.keys(user.extra).length > 0 && { extra: { ...user.extra } }),
    };
    draft['status'] = {};
  },
  prepareForUpdate(draft, old) {
    restore(draft, old, 'spec');
    restore(draft, old, 'status');
  },
};

export const certificateStatusStrategy: Strategy = {
  subresource: 'status',
  resetFields: [['spec']],
  prepareForUpdate(draft, old, { nowMs }) {
    restore(draft, old, 'spec');
    const before = obj(old, 'status');
    draft['status'] = withTimes(withDecisionsKept(obj(draft, 'status'), before), before, nowMs);
  },
};

export const certificateApprovalStrategy: Strategy = {
  subresource: 'approval',
  resetFields: [['spec'], ['status', 'certificate']],
  prepareForUpdate(draft, old, { nowMs }) {
    const before = obj(old, 'status');
    const { conditions } = withTimes(obj(draft, 'status'), before, nowMs);
    restore(draft, old, 'spec');
    draft['status'] = { ...before, ...(conditions !== undefined && { conditions }) };
  },
};
