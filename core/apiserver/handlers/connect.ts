import { badRequest, methodNotAllowed } from '../../api/meta/index.ts';
import { withObject } from '../admission/attributes.ts';
import { attributesOf } from './admission.ts';
import { connectOptionsOf } from './connect-options.ts';
import type { Handler } from './handler-call.ts';

/** Resource, name and subresource stand before what a connection is asked for. */
const PARTS_BEFORE_SUBPATH = 3;

/** The rest of the path, with the slash that the client ended it with. */
const subpathOf = (parts: readonly string[], path: string): string => {
  const rest = parts.slice(PARTS_BEFORE_SUBPATH).join('/');
  const subpath = rest === '' ? '' : `/${rest}`;
  return path.endsWith('/') && !subpath.endsWith('/') ? `${subpath}/` : subpath;
};

/** log, exec, attach, portforward, proxy: admitted here, and then the connection is the storage's. */
export const handleConnect: Handler = async (call) => {
  const { context, endpoint, scope, name, services, timer } = call;
  const { storage } = endpoint;
  if (!storage.connect) throw methodNotAllowed();
  if (context.request.query.has('dryRun')) throw badRequest('dryRun is not supported');
  const subpath = subpathOf(context.info.parts, context.info.path);
  // A log is read, which admission is not asked about.
  if (endpoint.subresource !== 'log') {
    const attributes = attributesOf(call, {
      operation: 'CONNECT',
      object: connectOptionsOf(endpoint.kind, context.request.query, subpath),
      oldObject: undefined,
      options: undefined,
      isDryRun: false,
    });
    timer.enter('mutating-admission');
    const object = await services.admission.admit(attributes);
    timer.enter('validating-admission');
    await services.admission.validate(withObject(attributes, object));
  }
  timer.enter('storage');
  await storage.connect(scope, name, subpath, context);
};
