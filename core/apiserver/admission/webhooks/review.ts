import { isJsonObject, type KubernetesObject } from '../../../api/meta/index.ts';
import { goQuote } from '../../../api/field/go-text.ts';
import type { AdmissionAttributes, ServedAs } from '../attributes.ts';
import { admissionRequestOf } from '../expressions/admission-request.ts';

const GROUP = 'admission.k8s.io';
const KNOWN_VERSIONS = ['v1', 'v1beta1'] as const;

export type ReviewVersion = (typeof KNOWN_VERSIONS)[number];

/** The first version that both sides know; undefined: none. */
export const reviewVersionOf = (accepted: readonly string[]): ReviewVersion | undefined =>
  accepted.find((version): version is ReviewVersion => KNOWN_VERSIONS.includes(version as ReviewVersion));

export interface ReviewRequest {
  readonly uid: string;
  readonly version: ReviewVersion;
  readonly attributes: AdmissionAttributes;
  readonly matched: ServedAs;
  readonly object: KubernetesObject | undefined;
  readonly oldObject: KubernetesObject | undefined;
}

/** What a webhook is sent. */
export const admissionReview = ({
  uid,
  version,
  attributes,
  matched,
  object,
  oldObject,
}: ReviewRequest): Record<string, unknown> => ({
  kind: 'AdmissionReview',
  apiVersion: `${GROUP}/${version}`,
  request: {
    uid,
    ...admissionRequestOf(attributes, matched),
    object: object ?? null,
    oldObject: oldObject ?? null,
  },
});

/** A webhook's answer, as far as it counts. */
export interface ReviewResponse {
  readonly allowed: boolean;
  /** Decoded from base64; empty where there is none. */
  readonly patch: string;
  readonly patchType: string;
  readonly status: Record<string, unknown> | undefined;
  readonly auditAnnotations: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

/** An answer that is none, with the reason in upstream's words. */
export class ReviewInvalid extends Error {
  override readonly name = 'ReviewInvalid';
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const checkPatch = (response: Record<string, unknown>, patch: string, isMutating: boolean): void => {
  const { patchType } = response;
  const hasType = patchType !== undefined && patchType !== null;
  if (!isMutating) {
    if (patch !== '') throw new ReviewInvalid('validating webhook may not return response.patch');
    if (hasType) throw new ReviewInvalid('validating webhook may not return response.patchType');
    return;
  }
  if (patch !== '' && !hasType)
    throw new ReviewInvalid('webhook returned response.patch but not response.patchType');
  if (patch === '' && hasType)
    throw new ReviewInvalid('webhook returned response.patchType but not response.patch');
  if (patchType === '') throw new ReviewInvalid('webhook returned invalid response.patchType of ""');
};

const checkHead = (review: KubernetesObject, response: Record<string, unknown>, uid: string): void => {
  if (textOf(response['uid']) !== uid)
    throw new ReviewInvalid(`expected response.uid=${goQuote(uid)}, got ${goQuote(textOf(response['uid']))}`);
  if (review.apiVersion !== `${GROUP}/v1` || review.kind !== 'AdmissionReview')
    throw new ReviewInvalid(
      `expected webhook response of ${GROUP}/v1, Kind=AdmissionReview, got ${review.apiVersion || '/'}, Kind=${review.kind ?? ''}`,
    );
};

const SCHEME = 'k8s.io/apiserver/pkg/util/webhook/client.go:71';

/** Why an answer cannot even be decoded, in upstream's words; one without a kind is taken for what was asked for. */
export const decodeProblem = (
  { apiVersion = '', kind = '' }: KubernetesObject,
  version: ReviewVersion,
): string | undefined => {
  if (apiVersion === '' || kind === '') return undefined;
  const got = KNOWN_VERSIONS.find((one) => apiVersion === `${GROUP}/${one}`);
  if (got === undefined || kind !== 'AdmissionReview')
    return `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme ${goQuote(SCHEME)}`;
  return got === version
    ? undefined
    : `converting (${got}.AdmissionReview) to (${version}.AdmissionReview): unknown conversion`;
};

const textsIn = (value: unknown): Record<string, string> =>
  isJsonObject(value)
    ? Object.fromEntries(
        Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
      )
    : {};

/** Reads an answer, or throws a ReviewInvalid. Only v1 checks its form, as upstream. */
export const readReview = (
  review: KubernetesObject,
  {
    uid,
    version,
    isMutating,
  }: { readonly uid: string; readonly version: ReviewVersion; readonly isMutating: boolean },
): ReviewResponse => {
  const response = review['response'];
  if (!isJsonObject(response)) throw new ReviewInvalid('webhook response was absent');
  const patch = Buffer.from(textOf(response['patch']), 'base64').toString('utf8');
  if (version === 'v1') {
    checkHead(review, response, uid);
    checkPatch(response, patch, isMutating);
  }
  const warnings = response['warnings'];
  return {
    allowed: response['allowed'] === true,
    patch: isMutating ? patch : '',
    patchType: version === 'v1' ? textOf(response['patchType']) : 'JSONPatch',
    status: isJsonObject(response['status']) ? response['status'] : undefined,
    auditAnnotations: textsIn(response['auditAnnotations']),
    warnings: Array.isArray(warnings) ? warnings.filter((one) => typeof one === 'string') : [],
  };
};
