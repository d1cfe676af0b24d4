import { hasStatusReason, methodNotAllowed, type KubernetesObject } from '../../api/meta/index.ts';
import type { Held } from '../registry/rest-storage.ts';
import { mutate, validator } from './admission.ts';
import type { Endpoint } from './endpoint.ts';
import type { Handler, HandlerCall } from './handler-call.ts';
import { trackUpdate } from './managed-fields.ts';
import { dedupOwners, ensureNamespace, metaOf, wipeSystemFields } from './object-checks.ts';
import { readObject } from './request-body.ts';
import { objectForm, sendHeld, sendObject } from './respond.ts';
import { writeOptionsOf, type WriteOptions } from './write-options.ts';

const CREATED = 201;

/** Decoded, in the request's namespace and owned by its sender: what admission gets to see. In the version kept. */
const readNewObject = async (call: HandlerCall, options: WriteOptions): Promise<KubernetesObject> => {
  const { endpoint, scope } = call;
  const next = (await readObject(call, 'create', options)).object();
  const meta = metaOf(next);
  if (!isConditional(endpoint)) wipeSystemFields(meta);
  ensureNamespace(meta, scope.namespace);
  dedupOwners(meta, false, (text) => scope.warn(text));
  const { fieldManager } = options;
  return endpoint.toHub(trackUpdate(call, { live: undefined, next, fieldManager }));
};

/** A binding is no new object: its uid says which pod it means. */
const isConditional = ({ kind }: Endpoint): boolean => kind.group === '' && kind.kind === 'Binding';

/** A namespace is admitted as if it were inside of itself. */
const admittedAs = (call: HandlerCall, object: KubernetesObject): HandlerCall => {
  const { resource, group } = call.endpoint.resource;
  const isNamespace = group === '' && resource === 'namespaces' && call.namespace === '';
  return isNamespace ? { ...call, namespace: object.metadata?.name ?? '' } : call;
};

const isTooLarge = (error: unknown): boolean => hasStatusReason(error, 'RequestEntityTooLarge');

export const handleCreate: Handler = async (call) => {
  const { context, endpoint, scope, timer } = call;
  const { storage } = endpoint;
  if (!storage.create) throw methodNotAllowed();
  const create = storage.create.bind(storage);
  const form = objectForm(call);
  const options = writeOptionsOf(context.request.query, 'CreateOptions');
  const sent = await readNewObject(call, options);
  const step = {
    operation: 'CREATE',
    options: options.objectAs('CreateOptions'),
    isDryRun: options.isDryRun,
  } as const;
  const admitted = admittedAs(call, sent);
  const name = sent.metadata?.name ?? '';
  const object = await mutate(admitted, { ...step, object: sent, oldObject: undefined, name });
  dedupOwners(metaOf(object), true, (text) => scope.warn(text));
  timer.enter('validation');
  const write = (): Promise<Held> =>
    create(scope, object, { dryRun: options.isDryRun, validate: validator(admitted, step) });
  const held = await write().catch((error: unknown) => {
    // Who owns what may be most of an object that is too large; the object itself matters more.
    if (!isTooLarge(error) || object.metadata?.managedFields === undefined) throw error;
    delete object.metadata.managedFields;
    return write();
  });
  if (isStatus(held.object)) await sendObject(call, form, CREATED, held.object);
  else await sendHeld(call, form, CREATED, held);
};

/** What is answered where nothing was made that could be shown. */
const isStatus = ({ kind, apiVersion }: KubernetesObject): boolean =>
  kind === 'Status' && apiVersion === 'v1';

/** POST below a named object: bindings, evictions, tokens. */
export const handleCreateNamed: Handler = async (call) => {
  const { context, endpoint, scope, name, timer } = call;
  const { storage } = endpoint;
  if (!storage.createNamed) throw methodNotAllowed();
  const form = objectForm(call);
  const options = writeOptionsOf(context.request.query, 'CreateOptions');
  const sent = await readNewObject(call, options);
  const step = {
    operation: 'CREATE',
    options: options.objectAs('CreateOptions'),
    isDryRun: options.isDryRun,
  } as const;
  const object = await mutate(call, { ...step, object: sent, oldObject: undefined });
  timer.enter('validation');
  const answer = await storage.createNamed(scope, name, object, {
    dryRun: options.isDryRun,
    validate: validator(call, step),
  });
  if (isStatus(answer)) await sendObject(call, form, CREATED, { ...answer, code: answer['code'] ?? CREATED });
  else await sendObject(call, form, CREATED, endpoint.fromHub(answer));
};
