import { messageOf } from '../../../base/errors.ts';
import {
  internalError,
  isJsonObject,
  parseApiVersion,
  type KubernetesObject,
  type StatusError,
} from '../../../api/meta/index.ts';
import { maybeObj, num, obj, str, type Obj } from '../../../api/validation/read.ts';
import { goQuote } from '../../../api/field/go-text.ts';
import type { WebhookClient } from '../../webhook/webhook-client.ts';
import type { WebhookTarget } from '../../webhook/target.ts';
import type { Converter } from './conversion.ts';
import type { CustomResource } from './custom-resource.ts';

const REVIEW_VERSIONS = ['v1', 'v1beta1'];
const REVIEW_GROUP = 'apiextensions.k8s.io';
/** As upstream bounds every call of a webhook. */
const TIMEOUT_MS = 30_000;
/** Objects in one review: a list of thousands must not become one request of gigabytes. */
const OBJECTS_MAX = 500;

export interface WebhookConverterOptions {
  readonly webhooks: WebhookClient;
  readonly newUid: () => string;
}

const targetOf = (config: Obj): WebhookTarget => {
  const service = maybeObj(config, 'service');
  return {
    url: typeof config['url'] === 'string' ? config['url'] : undefined,
    caBundle: typeof config['caBundle'] === 'string' ? config['caBundle'] : undefined,
    service: service && {
      namespace: str(service, 'namespace'),
      name: str(service, 'name'),
      path: str(service, 'path'),
      port: num(service, 'port') ?? 443,
    },
  };
};

/** As Go prints a kind, with an empty group, too. */
const kindText = (apiVersion: string, kind: string): string => {
  const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' };
  return `${group}/${version}, Kind=${kind}`;
};

/** Says which object could not be converted, and why. */
type Refuse = (why: string) => StatusError;

const refusalFor =
  ({ apiVersion = '', kind = '' }: KubernetesObject): Refuse =>
  (why) =>
    internalError(`conversion webhook for ${kindText(apiVersion, kind)} ${why}`);

const SAME: readonly (readonly [label: string, field: 'name' | 'namespace' | 'uid'])[] = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['UID', 'uid'],
];

/** What a webhook answers for one object: its own fields, with the metadata that it may not change put back. */
const restored = (
  original: KubernetesObject,
  converted: unknown,
  apiVersion: string,
  refuse: Refuse,
): KubernetesObject => {
  if (!isJsonObject(converted)) throw refuse('returned invalid object: it is not an object');
  const answer = converted as KubernetesObject;
  if (answer.apiVersion !== apiVersion)
    throw refuse(
      `returned invalid object at index 0: invalid groupVersion (expected ${apiVersion}, received ${String(answer.apiVersion ?? '')})`,
    );
  if (answer.kind !== original.kind)
    throw refuse(
      `returned invalid object at index 0: invalid kind (expected ${original.kind ?? ''}, received ${String(answer.kind ?? '')})`,
    );
  const metadata: unknown = answer.metadata;
  if (metadata === undefined) throw refuse('returned invalid metadata: missing metadata in converted object');
  if (!isJsonObject(metadata))
    throw refuse('returned invalid metadata: invalid metadata of type string in converted object');
  for (const [label, field] of SAME) {
    const [before, after] = [original.metadata?.[field] ?? '', metadata[field] ?? ''];
    if (before !== after)
      throw refuse(`returned invalid object: must have the same ${label}: ${before} != ${String(after)}`);
  }
  const { labels: _labels, annotations: _annotations, ...kept } = original.metadata ?? {};
  const texts: Record<string, Record<string, string>> = {};
  for (const field of ['labels', 'annotations']) {
    const given = metadata[field];
    if (given === undefined || given === null) continue;
    if (!isJsonObject(given) || Object.values(given).some((value) => typeof value !== 'string'))
      throw refuse(`returned invalid metadata: invalid metadata.${field} in converted object`);
    texts[field] = given as Record<string, string>;
  }
  return { ...answer, metadata: { ...kept, ...texts } };
};

const convertedIn = (
  answer: KubernetesObject,
  expected: { readonly apiVersion: string; readonly uid: string },
  refuse: Refuse,
): readonly unknown[] => {
  const isBeta = expected.apiVersion.endsWith('/v1beta1');
  if (!isBeta && (answer.apiVersion !== expected.apiVersion || answer.kind !== 'ConversionReview'))
    throw refuse(
      `failed: expected webhook response of ${REVIEW_GROUP}/v1, Kind=ConversionReview, got ${kindText(answer.apiVersion ?? '', answer.kind ?? '')}`,
    );
  const response = answer['response'];
  if (!isJsonObject(response)) throw refuse('failed: no response provided');
  if (!isBeta && response['uid'] !== expected.uid)
    throw refuse(
      `failed: expected response.uid=${goQuote(expected.uid)}, got ${goQuote(String(response['uid'] ?? ''))}`,
    );
  const result = obj(response, 'result');
  if (str(result, 'status') !== 'Success')
    throw refuse(
      `failed: ${str(result, 'message') || `response.result.status was '${str(result, 'status')}', not 'Success'`}`,
    );
  const { convertedObjects } = response;
  return Array.isArray(convertedObjects) ? convertedObjects : [];
};

/** Strategy `Webhook`: a server of the definition's author converts. */
export const webhookConverter = (
  { group, conversion }: CustomResource,
  { webhooks, newUid }: WebhookConverterOptions,
): Converter => {
  const target = targetOf(conversion.clientConfig);
  const reviewVersion = conversion.reviewVersions.find((version) => REVIEW_VERSIONS.includes(version));

  const review = async (
    objects: readonly KubernetesObject[],
    apiVersion: string,
  ): Promise<readonly KubernetesObject[]> => {
    const refuse = refusalFor(objects[0]!);
    if (reviewVersion === undefined) throw internalError('no supported conversion review versions');
    const reviewApiVersion = `${REVIEW_GROUP}/${reviewVersion}`;
    const uid = newUid();
    const body = {
      kind: 'ConversionReview',
      apiVersion: reviewApiVersion,
      request: { uid, desiredAPIVersion: apiVersion, objects },
    };
    let answer: KubernetesObject;
    try {
      answer = await webhooks.post(target, body, {
        timeoutMs: TIMEOUT_MS,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
    } catch (error) {
      throw refuse(`failed: ${messageOf(error)}`);
    }
    const converted = convertedIn(answer, { apiVersion: reviewApiVersion, uid }, refuse);
    if (converted.length !== objects.length)
      throw refuse(`returned ${converted.length} objects, expected ${objects.length}`);
    return objects.map((object, at) => restored(object, converted[at], apiVersion, refuse));
  };

  return {
    now: undefined,
    async convert(objects, version) {
      const results: KubernetesObject[] = [];
      for (let from = 0; from < objects.length; from += OBJECTS_MAX)
        results.push(...(await review(objects.slice(from, from + OBJECTS_MAX), `${group}/${version}`)));
      return results;
    },
  };
};
