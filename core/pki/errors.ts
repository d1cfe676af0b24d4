import { hasReason, ReasonError } from '../base/errors.ts';

export type PkiReason =
  | 'Malformed' // not the certificate, request, key or kubeconfig it should be
  | 'Unsupported' // well formed, but of an algorithm or kind we do not handle
  | 'BadSignature' // a request that its own key did not sign
  | 'NotFound'
  | 'AlreadyExists'
  | 'KeyMissing' // the authority's key is elsewhere (an external authority): it cannot sign here
  | 'WrongPhase'; // a rotation step out of order

export class PkiError extends ReasonError<PkiReason> {
  override readonly name = 'PkiError';
}

export const isPkiError = (error: unknown, reason: PkiReason): error is PkiError =>
  error instanceof PkiError && hasReason(error, reason);
