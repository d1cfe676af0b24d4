import type { Verb } from '../../api/scheme/index.ts';
import { handleConnect } from './connect.ts';
import { handleCreate, handleCreateNamed } from './create.ts';
import { handleDelete, handleDeleteCollection } from './delete.ts';
import type { Handler, HandlerCall } from './handler-call.ts';
import { handlePatch } from './patch.ts';
import { handleGet, handleList } from './read.ts';
import { handleUpdate } from './update.ts';
import { handleWatch } from './watch.ts';

const HANDLERS: Readonly<Record<Verb, Handler>> = {
  get: handleGet,
  list: handleList,
  watch: handleWatch,
  create: handleCreate,
  update: handleUpdate,
  patch: handlePatch,
  delete: handleDelete,
  deletecollection: handleDeleteCollection,
};

const VERB_OF_METHOD: Readonly<Record<string, Verb | undefined>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

/** The verb as upstream routes it, by method and path; HEAD and OPTIONS are no methods of a resource there. */
const verbOf = ({ context, name, endpoint }: HandlerCall): Verb | undefined => {
  const { info, request } = context;
  if (request.method === 'GET') {
    if (info.verb === 'watch') return 'watch';
    return name === '' ? 'list' : 'get';
  }
  const verb = VERB_OF_METHOD[request.method];
  const isCollection = name === '';
  if (verb === 'create' || !isCollection) {
    const isPlain = endpoint.subresource === '';
    // New objects are posted to their collection, and parts of one below its name.
    return verb === 'create' && isPlain !== isCollection ? undefined : verb;
  }
  return verb === 'delete' ? 'deletecollection' : undefined;
};

/** Undefined where the resource does not know the method. */
export const handlerFor = (call: HandlerCall): Handler | undefined => {
  const { endpoint, context, namespace } = call;
  const { storage, subresource, verbs } = endpoint;
  const verb = verbOf(call);
  if (verb === undefined || !verbs.includes(verb)) return undefined;
  const isReadOfAll = verb === 'list' || verb === 'watch';
  if (endpoint.namespaced && namespace === '' && !isReadOfAll) return undefined;
  if (storage.connect && subresource !== '') return handleConnect;
  if (verb === 'create' && subresource !== '') return handleCreateNamed;
  return context.info.verb === 'proxy' ? undefined : HANDLERS[verb];
};
