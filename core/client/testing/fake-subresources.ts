import type { KubernetesObject } from '../../api/meta/object-meta.ts';
import { withCondition, type Condition } from '../../api/meta/conditions.ts';
import { successStatus } from '../../api/meta/status.ts';
import { conflict, pathNotFound } from '../../api/meta/status-errors.ts';
import { formatTime } from '../../api/meta/time.ts';
import type { V1Binding, V1Pod, V1Scale } from '../../api/schema/index.ts';
import { selectorFromObject, selectorFromSet } from '../../api/selector/index.ts';
import type { DeleteBody } from './deletion.ts';
import type { FakeRequest } from './fake-request.ts';
import type { Answer, FakeVerbs } from './fake-verbs.ts';
import type { AnyStored } from './memory-store.ts';
import { hasSubresource } from './object-rules.ts';
import { patched } from './patching.ts';

type Respond = (verbs: FakeVerbs, request: FakeRequest) => Answer;

interface Scalable {
  spec?: { replicas?: number; selector?: { matchLabels?: Record<string, string> } };
  status?: { replicas?: number };
}

const scaleOf = (request: FakeRequest, live: AnyStored): AnyStored => {
  const { spec, status } = live as Scalable;
  const selector =
    request.type.kind === 'ReplicationController'
      ? selectorFromSet(spec?.selector as Record<string, string> | undefined)
      : selectorFromObject(spec?.selector);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = live.metadata;
  return {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp } as AnyStored['metadata'],
    spec: { replicas: spec?.replicas ?? 0 },
    status: { replicas: status?.replicas ?? 0, selector: selector.toString() },
  };
};

const scale: Respond = (verbs, request) => {
  const live = verbs.get(request);
  if (request.verb === 'get') return { code: 200, body: scaleOf(request, live) };
  const before = scaleOf(request, live);
  const asked = (
    request.verb === 'patch'
      ? patched(
          { ...request.type, group: 'autoscaling', version: 'v1', kind: 'Scale' },
          before,
          request.contentType,
          request.body,
        )
      : request.body
  ) as V1Scale;
  const metadata = { ...live.metadata, resourceVersion: asked.metadata?.resourceVersion ?? '' };
  const spec = { ...(live as Scalable).spec, replicas: asked.spec?.replicas ?? 0 };
  const kept = verbs.write({ ...request, subresource: '' }, () => ({ ...live, metadata, spec }));
  return { code: 200, body: scaleOf(request, kept) };
};

/** As the registry of pods: bound once, and the condition that the scheduler would report. */
const binding: Respond = (verbs, request) => {
  const { target } = request.body as V1Binding;
  const live = verbs.get(request) as V1Pod & AnyStored;
  const why = live.metadata.deletionTimestamp
    ? `pod ${live.metadata.name} is being deleted, cannot be assigned to a host`
    : live.spec?.nodeName
      ? `pod ${live.metadata.name} is already assigned to node ${JSON.stringify(live.spec.nodeName)}`
      : undefined;
  if (why !== undefined) throw conflict({ group: '', resource: 'pods/binding' }, live.metadata.name, why);
  const conditions = withCondition<Condition>(
    live.status?.conditions,
    { type: 'PodScheduled', status: 'True' },
    formatTime(verbs.context.clock.nowMs()),
  );
  verbs.keep(request, live, {
    ...live,
    spec: { ...live.spec, nodeName: target.name },
    status: { ...live.status, conditions },
  } as KubernetesObject);
  return { code: 201, body: successStatus() };
};

const eviction: Respond = (verbs, request) => {
  const options = (request.body as { deleteOptions?: DeleteBody }).deleteOptions ?? {};
  verbs.delete({ ...request, subresource: '' }, options);
  return { code: 201, body: successStatus() };
};

const token: Respond = (verbs, request) => {
  const account = verbs.get(request);
  const { expirationSeconds = 3600 } = (request.body as { spec?: { expirationSeconds?: number } }).spec ?? {};
  const expirationTimestamp = formatTime(verbs.context.clock.nowMs() + expirationSeconds * 1000);
  const text = `token-of-${account.metadata.namespace ?? ''}-${account.metadata.name}-${verbs.store.revision}`;
  return { code: 201, body: { ...(request.body as object), status: { token: text, expirationTimestamp } } };
};

/** Conditions of a signing request are written through their own door. */
const approval: Respond = (verbs, request) => {
  const given = request.body as { metadata?: object; status?: { conditions?: unknown } };
  const kept = verbs.write({ ...request, subresource: 'status' }, (live) => ({
    ...live,
    metadata: { ...live.metadata, ...given.metadata },
    status: { ...(live['status'] as object | undefined), conditions: given.status?.conditions },
  }));
  return { code: 200, body: kept };
};

/** Takes only the finalizers in the spec of a namespace. */
const finalize: Respond = (verbs, request) => {
  const { spec } = request.body as { spec?: { finalizers?: string[] } };
  const live = verbs.get(request);
  const kept = verbs.keep(request, live, {
    ...live,
    spec: { ...(live['spec'] as object), finalizers: spec?.finalizers ?? [] },
  });
  return { code: 200, body: kept };
};

const wholeObject: Respond = (verbs, request) => ({
  code: 200,
  body: verbs.answer({ ...request, subresource: '' }).body,
});

const SUBRESOURCES: Readonly<Record<string, Respond>> = {
  scale,
  binding,
  eviction,
  token,
  approval,
  finalize,
  ephemeralcontainers: wholeObject,
  resize: wholeObject,
};

export const answerSubresource = (verbs: FakeVerbs, request: FakeRequest): Answer => {
  const respond = SUBRESOURCES[request.subresource];
  if (!respond || !hasSubresource(request.type, request.subresource)) throw pathNotFound();
  return respond(verbs, request);
};
