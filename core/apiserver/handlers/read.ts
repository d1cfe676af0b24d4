import { methodNotAllowed } from '../../api/meta/index.ts';
import type { Handler } from './handler-call.ts';
import { queryOptionsOf } from './list-options.ts';
import { negotiateOutput } from './negotiate-output.ts';
import { sendHeld, sendList } from './respond.ts';

export const handleGet: Handler = async (call) => {
  const { context, endpoint, scope, name, timer } = call;
  if (!endpoint.storage.get) throw methodNotAllowed();
  const form = negotiateOutput(context.request, { isCustom: endpoint.isCustom, isList: false });
  const resourceVersion = context.request.query.get('resourceVersion') ?? '';
  timer.enter('storage');
  const held = await endpoint.storage.get(scope, name, { resourceVersion });
  await endpoint.prepare?.([held.object]);
  await sendHeld(call, form, 200, held);
};

export const handleList: Handler = async (call) => {
  const { context, endpoint, scope, timer } = call;
  if (!endpoint.storage.list) throw methodNotAllowed();
  const form = negotiateOutput(context.request, { isCustom: endpoint.isCustom, isList: true });
  const options = queryOptionsOf(context.request.query, endpoint, { name: '', isWatch: false });
  timer.enter('storage');
  const list = await endpoint.storage.list(scope, options);
  await endpoint.prepare?.(list.items.map(({ object }) => object));
  await sendList(call, form, list);
};
