import { messageOf } from '../../base/errors.ts';
import { decodeManagedFields } from '../../api/apply/index.ts';
import type { KubernetesObject } from '../../api/meta/index.ts';
import type { Json } from '../../api/patch/json.ts';
import type { AdmissionAttributes, Operation } from '../admission/attributes.ts';
import { Reinvocation } from '../admission/reinvocation.ts';
import { forbiddenFor, resourceAttributes } from '../authz/authorizer.ts';
import type { Admit } from '../registry/rest-storage.ts';
import type { HandlerCall } from './handler-call.ts';
import { ensureNamespace, metaOf } from './object-checks.ts';

export interface AdmissionStep {
  readonly operation: Operation;
  readonly object: KubernetesObject | undefined;
  readonly oldObject: KubernetesObject | undefined;
  readonly options: KubernetesObject | undefined;
  readonly isDryRun: boolean;
  /** Where it is not that of the path. */
  readonly name?: string;
}

/** A class for its getter: few plugins ask for the signal, which is costly. */
class CallAttributes implements AdmissionAttributes {
  readonly operation: AdmissionAttributes['operation'];
  readonly resource: AdmissionAttributes['resource'];
  readonly subresource: string;
  readonly kind: AdmissionAttributes['kind'];
  readonly namespace: string;
  readonly name: string;
  readonly object: KubernetesObject | undefined;
  readonly oldObject: KubernetesObject | undefined;
  readonly options: KubernetesObject | undefined;
  readonly user: AdmissionAttributes['user'];
  readonly isDryRun: boolean;
  readonly objects: AdmissionAttributes['objects'];
  readonly reinvocation = new Reinvocation();
  readonly warn: AdmissionAttributes['warn'];
  readonly annotate: AdmissionAttributes['annotate'];
  readonly record: AdmissionAttributes['record'];
  readonly #scope: HandlerCall['scope'];

  constructor({ endpoint, user, scope, context, ...call }: HandlerCall, step: AdmissionStep) {
    this.operation = step.operation;
    this.resource = endpoint.resource;
    this.subresource = endpoint.subresource;
    this.kind = endpoint.kind;
    this.namespace = call.namespace;
    this.name = step.name ?? call.name;
    this.object = step.object;
    this.oldObject = step.oldObject;
    this.options = step.options;
    this.user = user;
    this.isDryRun = step.isDryRun;
    this.objects = endpoint.objects;
    this.warn = (text) => scope.warn(text);
    this.annotate = (key, value) => context.annotate(key, value);
    this.record = (record) => context.recordAdmission(record);
    this.#scope = scope;
  }

  get signal(): AbortSignal {
    return this.#scope.signal;
  }
}

export const attributesOf = (call: HandlerCall, step: AdmissionStep): AdmissionAttributes =>
  new CallAttributes(call, step);

/** A webhook or policy must neither move an object elsewhere nor spoil what says who owns its fields. */
const checkReplaced = (call: HandlerCall, before: KubernetesObject, after: KubernetesObject): void => {
  const meta = metaOf(after);
  ensureNamespace(meta, call.scope.namespace);
  try {
    decodeManagedFields(meta.managedFields as unknown as Json | undefined);
  } catch (error) {
    const managedFields = before.metadata?.managedFields;
    if (managedFields) meta.managedFields = managedFields;
    else delete meta.managedFields;
    call.scope.warn(
      `.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: ${messageOf(error)}`,
    );
  }
};

/** Mutating admission: answers the object as it is to be; `step.object` is spent. */
export const mutate = async (
  call: HandlerCall,
  step: AdmissionStep & { readonly object: KubernetesObject },
): Promise<KubernetesObject> => {
  call.timer.enter('mutating-admission');
  const object = (await call.services.admission.admit(attributesOf(call, step))) ?? step.object;
  if (object !== step.object) checkReplaced(call, step.object, object);
  return object;
};

type ValidatingStep = Omit<AdmissionStep, 'object' | 'oldObject'>;

/**
 * Validating admission, which storage calls between its own validation and the write: what runs before it is
 * validation, and what runs after it is the storage.
 */
export const validator =
  (call: HandlerCall, step: ValidatingStep): Admit =>
  async (object, oldObject) => {
    const { timer, services } = call;
    timer.enter('validating-admission');
    const name = step.name ?? (call.name === '' ? (object.metadata?.name ?? '') : call.name);
    await services.admission.validate(attributesOf(call, { ...step, object, oldObject, name }));
    timer.enter('storage');
  };

/** Deletions have no object of their own: both phases see what is about to go. */
export const deletionValidator =
  (call: HandlerCall, options: KubernetesObject, isDryRun: boolean) =>
  async (oldObject: KubernetesObject): Promise<void> => {
    const { timer, services } = call;
    const name = call.name === '' ? (oldObject.metadata?.name ?? '') : call.name;
    const attributes = attributesOf(call, {
      operation: 'DELETE',
      object: undefined,
      oldObject,
      options,
      isDryRun,
      name,
    });
    timer.enter('mutating-admission');
    await services.admission.admit(attributes);
    timer.enter('validating-admission');
    await services.admission.validate(attributes);
    timer.enter('storage');
  };

/** Who may change an object may not therefore create it. */
export const authorizeCreate = async ({
  services,
  endpoint,
  user,
  namespace,
  name,
}: HandlerCall): Promise<void> => {
  if (!services.authorizer) return;
  const attributes = resourceAttributes(user, {
    verb: 'create',
    apiGroup: endpoint.resource.group,
    apiVersion: endpoint.resource.version,
    resource: endpoint.resource.resource,
    subresource: endpoint.subresource,
    namespace,
    name,
  });
  const { decision, reason } = await services.authorizer.authorize(attributes);
  if (decision !== 'allow') throw forbiddenFor(attributes, reason);
};
