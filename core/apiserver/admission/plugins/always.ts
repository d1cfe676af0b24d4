import type { AdmissionPlugin } from '../attributes.ts';
import { refusal } from '../refusal.ts';

/** Kept for command lines that name it: it does nothing. */
export const alwaysAdmit = (): AdmissionPlugin => ({ name: 'AlwaysAdmit', handles: () => true });

/** For tests of clients: no write goes through. */
export const alwaysDeny = (): AdmissionPlugin => {
  const deny: NonNullable<AdmissionPlugin['validate']> = (attributes) => {
    throw refusal(attributes, 'admission control is denying all modifications');
  };
  return { name: 'AlwaysDeny', handles: () => true, admit: deny, validate: deny };
};
