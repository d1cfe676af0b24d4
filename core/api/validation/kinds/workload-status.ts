import { nonnegative } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { invalid } from '../../field/field-error.ts';
import { child } from '../../field/field-path.ts';
import { objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { int, num, obj } from '../read.ts';

export interface StatusCounts {
  readonly names: readonly string[];
  /** Those that may not be more than status.replicas. */
  readonly parts?: readonly string[];
  readonly availableText?: string;
}

/** Counts in a status: none below zero, parts not above the whole, the count of collisions never less. */
export function statusErrors(
  object: Obj,
  before: Obj,
  { names, parts = [], availableText = '' }: StatusCounts,
): FieldError[] {
  const [status, old] = [obj(object, 'status'), obj(before, 'status')];
  const errors = [
    ...objectMetaUpdate(object, before),
    ...[...names, 'observedGeneration'].flatMap((name) =>
      nonnegative(child('status', name), num(status, name)),
    ),
  ];
  for (const name of parts)
    if (int(status, name) > int(status, 'replicas'))
      errors.push(
        invalid(child('status', name), int(status, name), 'cannot be greater than status.replicas'),
      );
  if (availableText !== '' && int(status, 'availableReplicas') > int(status, 'readyReplicas'))
    errors.push(
      invalid(
        'status.availableReplicas',
        int(status, 'availableReplicas'),
        `cannot be greater than ${availableText}`,
      ),
    );
  if (int(status, 'collisionCount') < int(old, 'collisionCount'))
    errors.push(invalid('status.collisionCount', int(status, 'collisionCount'), 'cannot be decremented'));
  return errors;
}

export const DEPLOYMENT_STATUS: StatusCounts = {
  names: [
    'replicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'unavailableReplicas',
    'terminatingReplicas',
    'collisionCount',
  ],
  parts: ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
  availableText: 'readyReplicas',
};

export const REPLICA_SET_STATUS: StatusCounts = {
  names: ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'terminatingReplicas'],
  parts: ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
  availableText: 'readyReplicas',
};

export const STATEFUL_SET_STATUS: StatusCounts = {
  names: [
    'replicas',
    'readyReplicas',
    'currentReplicas',
    'updatedReplicas',
    'availableReplicas',
    'collisionCount',
  ],
  parts: ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
  availableText: 'status.readyReplicas',
};

export const DAEMON_SET_STATUS: StatusCounts = {
  names: [
    'currentNumberScheduled',
    'numberMisscheduled',
    'desiredNumberScheduled',
    'numberReady',
    'updatedNumberScheduled',
    'numberAvailable',
    'numberUnavailable',
    'collisionCount',
  ],
};
