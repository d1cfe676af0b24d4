import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import { wait } from '../../../base/wait.ts';
import { isJsonObject, type KubernetesObject } from '../../../api/meta/index.ts';
import type { V1Pod } from '../../../api/schema/index.ts';
import type { WebhookTarget } from '../../webhook/target.ts';
import { WebhookCallError, type WebhookClient } from '../../webhook/webhook-client.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../attributes.ts';
import { handlesOnly, isResource, PODS } from '../matching.ts';
import { refusal } from '../refusal.ts';

export interface ImagePolicyConfiguration {
  readonly target: WebhookTarget;
  readonly allowTtlMs: number;
  readonly denyTtlMs: number;
  readonly retryBackoffMs: number;
  /** A backend that cannot be asked lets every image pass. */
  readonly defaultAllow: boolean;
}

const PREFIX = 'imagepolicywebhook.image-policy.k8s.io/';
const FAILED_OPEN_ANNOTATION = 'alpha.image-policy.k8s.io/failed-open';
const ANSWERS_MAX = 1024;
const ATTEMPTS_MAX = 5;
const BACKOFF_FACTOR = 1.5;

interface Answer {
  readonly allowed: boolean;
  readonly reason: string;
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

const answerOf = (review: KubernetesObject): Answer => {
  const status = isJsonObject(review['status']) ? review['status'] : {};
  const { allowed, reason, auditAnnotations } = status;
  return {
    allowed: allowed === true,
    reason: typeof reason === 'string' ? reason : '',
    auditAnnotations: isJsonObject(auditAnnotations)
      ? Object.fromEntries(Object.entries(auditAnnotations).map(([key, value]) => [key, String(value)]))
      : {},
  };
};

const imagesOf = ({ spec }: V1Pod, subresource: string): readonly string[] =>
  (subresource === ''
    ? [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])]
    : (spec?.ephemeralContainers ?? [])
  ).map(({ image = '' }) => image);

/** Answers that still hold; the oldest goes first. */
class AnswerCache {
  readonly #clock: Clock;
  readonly #answers = new Map<string, { readonly answer: Answer; readonly untilMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(key: string): Answer | undefined {
    const known = this.#answers.get(key);
    if (known && known.untilMs > this.#clock.monotonicMs()) return known.answer;
    this.#answers.delete(key);
    return undefined;
  }

  set(key: string, answer: Answer, ttlMs: number): void {
    this.#answers.set(key, { answer, untilMs: this.#clock.monotonicMs() + ttlMs });
    const oldest = this.#answers.keys().next();
    if (this.#answers.size > ANSWERS_MAX && !oldest.done) this.#answers.delete(oldest.value);
  }
}

/** What may be different next time: the network, and a server that says it cannot right now. */
const isPassing = ({ status, isCanceled }: WebhookCallError): boolean =>
  !isCanceled && (status === undefined || status.code >= 500 || status.code === 429);

/** A backend that people run decides which images pods may have. */
export const imagePolicyWebhook = (
  client: WebhookClient,
  clock: Clock,
  configuration: ImagePolicyConfiguration,
): AdmissionPlugin => {
  const { target, allowTtlMs, denyTtlMs, retryBackoffMs, defaultAllow } = configuration;
  const cache = new AnswerCache(clock);

  const ask = async (spec: Record<string, unknown>, signal: AbortSignal): Promise<Answer> => {
    const review = {
      kind: 'ImageReview',
      apiVersion: 'imagepolicy.k8s.io/v1alpha1',
      metadata: {},
      spec,
      status: {},
    };
    let pauseMs = retryBackoffMs;
    for (let attempt = 1; ; attempt += 1)
      try {
        return answerOf(await client.post(target, review, { signal }));
      } catch (error) {
        const isLast = attempt === ATTEMPTS_MAX || !(error instanceof WebhookCallError) || !isPassing(error);
        if (isLast) throw error;
        await wait(clock, pauseMs, signal);
        pauseMs *= BACKOFF_FACTOR;
      }
  };

  const decide = async (attributes: AdmissionAttributes, pod: V1Pod): Promise<Answer | undefined> => {
    const annotations = Object.fromEntries(
      Object.entries(pod.metadata?.annotations ?? {}).filter(([key]) =>
        key.includes('.image-policy.k8s.io/'),
      ),
    );
    const spec = {
      containers: imagesOf(pod, attributes.subresource).map((image) => ({ image })),
      ...(Object.keys(annotations).length > 0 && { annotations }),
      namespace: attributes.namespace,
    };
    const key = JSON.stringify(spec);
    const known = cache.get(key);
    if (known) return known;
    try {
      const answer = await ask(spec, attributes.signal);
      cache.set(key, answer, answer.allowed ? allowTtlMs : denyTtlMs);
      return answer;
    } catch (error) {
      if (!defaultAllow) throw refusal(attributes, messageOf(error));
      attributes.annotate(`${PREFIX}failed-open`, 'true');
      pod.metadata = {
        ...pod.metadata,
        annotations: { ...pod.metadata?.annotations, [FAILED_OPEN_ANNOTATION]: 'true' },
      };
      return undefined;
    }
  };

  return {
    name: 'ImagePolicyWebhook',
    handles: handlesOnly('CREATE', 'UPDATE'),
    async validate(attributes) {
      const { subresource } = attributes;
      if (!['', 'ephemeralcontainers'].includes(subresource) || !isResource(attributes, PODS)) return;
      const answer = await decide(attributes, attributes.object as V1Pod);
      if (!answer) return;
      for (const [key, value] of Object.entries(answer.auditAnnotations))
        attributes.annotate(`${PREFIX}${key}`, value);
      if (answer.allowed) return;
      throw refusal(
        attributes,
        answer.reason === ''
          ? 'one or more images rejected by webhook backend'
          : `image policy webhook backend denied one or more images: ${answer.reason}`,
      );
    },
  };
};
