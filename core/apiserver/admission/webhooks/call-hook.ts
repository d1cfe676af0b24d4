import { randomUUID } from 'node:crypto';
import { messageOf } from '../../../base/errors.ts';
import type { AdmissionAttributes } from '../attributes.ts';
import { WebhookCallError, type WebhookClient } from '../../webhook/webhook-client.ts';
import { CallingFailed, dryRunUnsupported, rejection } from './hook-errors.ts';
import type { Invocation } from './hook-matching.ts';
import {
  admissionReview,
  decodeProblem,
  readReview,
  reviewVersionOf,
  type ReviewResponse,
} from './review.ts';

const WITHOUT_SIDE_EFFECTS = ['None', 'NoneOnDryRun'];
const BAD_REQUEST = 400;
const UNAVAILABLE = 503;

/** Asks one webhook. Answers what it allowed; fails with CallingFailed, Rejected, or a StatusError of this server. */
export const callHook = async (
  client: WebhookClient,
  { hook, matched, object, oldObject }: Invocation,
  attributes: AdmissionAttributes,
  isMutating: boolean,
): Promise<ReviewResponse> => {
  const failed = (reason: string, code: number): CallingFailed =>
    new CallingFailed(hook.name, reason, { code });
  if (attributes.isDryRun) {
    if (hook.sideEffects === '') throw failed('Webhook SideEffects is nil', BAD_REQUEST);
    if (!WITHOUT_SIDE_EFFECTS.includes(hook.sideEffects)) throw dryRunUnsupported(hook.name);
  }
  const version = reviewVersionOf(hook.reviewVersions);
  if (!version)
    throw failed(
      'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)',
      BAD_REQUEST,
    );
  const uid = randomUUID();
  const review = admissionReview({ uid, version, attributes, matched, object, oldObject });
  const { timeoutMs } = hook;
  const answer = await client
    .post(hook.target, review, { timeoutMs, signal: attributes.signal })
    .catch((error: unknown) => {
      const { status, isCanceled = false } = error instanceof WebhookCallError ? error : {};
      throw new CallingFailed(hook.name, `failed to call webhook: ${messageOf(error)}`, {
        code: status?.code ?? UNAVAILABLE,
        isCanceled,
      });
    });
  const problem = decodeProblem(answer, version);
  if (problem !== undefined) throw failed(`failed to call webhook: ${problem}`, UNAVAILABLE);
  let response: ReviewResponse;
  try {
    response = readReview(answer, { uid, version, isMutating });
  } catch (error) {
    throw failed(`received invalid webhook response: ${messageOf(error)}`, UNAVAILABLE);
  }
  for (const [key, value] of Object.entries(response.auditAnnotations))
    attributes.annotate(`${hook.name}/${key}`, value);
  for (const warning of response.warnings) attributes.warn(warning);
  if (!response.allowed) throw rejection(hook.name, response.status);
  return response;
};
