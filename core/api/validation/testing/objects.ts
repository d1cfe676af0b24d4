import type { FieldErrorList } from '../../field/field-error.ts';
import { errorText } from '../../field/field-error.ts';
import type { Obj } from '../read.ts';

/** Objects as they are after defaults, for tests of validation. */

export const container = (change: Obj = {}): Obj => ({
  name: 'web',
  image: 'nginx:1',
  imagePullPolicy: 'IfNotPresent',
  terminationMessagePolicy: 'File',
  ...change,
});

export const podSpec = (change: Obj = {}): Obj => ({
  containers: [container()],
  restartPolicy: 'Always',
  dnsPolicy: 'ClusterFirst',
  terminationGracePeriodSeconds: 30,
  ...change,
});

export const metadata = (change: Obj = {}): Obj => ({ name: 'web', namespace: 'default', ...change });

/** What the store adds: an update must carry it. */
export const stored = (object: Obj): Obj => ({
  ...object,
  metadata: { ...(object['metadata'] as Obj), uid: 'u1', resourceVersion: '5' },
});

export const texts = (errors: FieldErrorList): string[] => errors.map(errorText);
