import { methodNotAllowed, type KubernetesObject, type StatusDetails } from '../../api/meta/index.ts';
import { deletionValidator } from './admission.ts';
import type { Handler, HandlerCall } from './handler-call.ts';
import { queryOptionsOf } from './list-options.ts';
import { bodyEncoding } from './media-types.ts';
import { negotiateOutput } from './negotiate-output.ts';
import { readBody } from './request-body.ts';
import { objectForm, sendHeld, sendList, sendObject } from './respond.ts';
import { deleteOptionsOf, type DeleteRequest } from './write-options.ts';

const readOptions = async (call: HandlerCall): Promise<DeleteRequest> => {
  const { request } = call.context;
  const body = await readBody(call, 'delete');
  const encoding = () => bodyEncoding(request.headers.get('content-type'));
  return deleteOptionsOf(request.query, body, encoding, call.endpoint.findStruct);
};

/** What is gone is told in a Status without a code, as upstream's storage makes it. */
const goneStatus = (details: StatusDetails): unknown => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  details: Object.fromEntries(Object.entries(details).filter(([, value]) => value !== '')),
});

/** What goes is admitted in the version of the request, where its kind has conversions of its own. */
const validatorOf = (
  call: HandlerCall,
  options: KubernetesObject,
  isDryRun: boolean,
): ((old: KubernetesObject) => Promise<void>) => {
  const { endpoint } = call;
  const validate = deletionValidator(call, options, isDryRun);
  if (!endpoint.isCustom) return validate;
  return async (old) => {
    await endpoint.prepare?.([old]);
    await validate(endpoint.fromHub(old));
  };
};

export const handleDelete: Handler = async (call) => {
  const { endpoint, scope, name, timer } = call;
  const { storage } = endpoint;
  if (!storage.delete) throw methodNotAllowed();
  const form = objectForm(call);
  const { options, object } = await readOptions(call);
  timer.enter('storage');
  const { held, isGone } = await storage.delete(scope, name, {
    ...options,
    validate: validatorOf(call, object, options.dryRun),
  });
  if (isGone && storage.returnsDeletedObject !== true) {
    const { group, resource: kind } = endpoint.resource;
    const uid = held.object.metadata?.uid ?? '';
    await sendObject(call, form, 200, goneStatus({ name, group, kind, uid }));
    return;
  }
  await endpoint.prepare?.([held.object]);
  // Only who asked the old way that dependents go first is told that they are still going.
  const isAccepted = !isGone && options.orphanDependents === false;
  await sendHeld(call, form, isAccepted ? 202 : 200, held);
};

export const handleDeleteCollection: Handler = async (call) => {
  const { context, endpoint, scope, timer } = call;
  const { storage } = endpoint;
  if (!storage.deleteCollection) throw methodNotAllowed();
  const form = negotiateOutput(context.request);
  const list = queryOptionsOf(context.request.query, endpoint, { name: '', isWatch: false });
  const { options, object } = await readOptions(call);
  timer.enter('storage');
  const deleted = await storage.deleteCollection(scope, list, {
    ...options,
    validate: validatorOf(call, object, options.dryRun),
  });
  await endpoint.prepare?.(deleted.items.map((held) => held.object));
  await sendList(call, form, deleted);
};
