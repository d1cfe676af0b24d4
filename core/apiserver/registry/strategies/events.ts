import { eventErrors, eventUpdateErrors } from '../../../api/validation/kinds/event.ts';
import { statusOf } from '../../../api/validation/validate.ts';
import type { FieldErrorList } from '../../../api/field/field-error.ts';
import type { Draft, Strategy, WriteContext } from '../generic/strategy.ts';

const KIND = { group: '', kind: 'Event' };

const refuse = (event: Draft, errors: FieldErrorList): Promise<void> => {
  const refusal = statusOf(KIND, event, errors);
  return refusal ? Promise.reject(refusal) : Promise.resolve();
};

/** Both groups write the same objects; only the younger one is strict. */
const isStrict = ({ apiGroup }: WriteContext): boolean => apiGroup === 'events.k8s.io';

/** `ttlSeconds`: upstream's --event-ttl. */
export const eventStrategy = (ttlSeconds: number): Strategy => ({
  allowCreateOnUpdate: true,
  dependents: 'Unsupported',
  ttlSeconds,
  checkCreate: (event, context) => refuse(event, eventErrors(event, isStrict(context))),
  checkUpdate: (event, old, context) => refuse(event, eventUpdateErrors(event, old, isStrict(context))),
});
