import { methodNotAllowed } from '../../api/meta/index.ts';
import { auditRecordOf } from '../audit/record.ts';
import type { Handler } from './handler-call.ts';
import { patchTypeOf } from './media-types.ts';
import { checkName, ensureNamespace, metaOf } from './object-checks.ts';
import { applyBehindView, patchMechanism } from './patch-mechanism.ts';
import { readBody } from './request-body.ts';
import { objectForm, sendHeld } from './respond.ts';
import { writeChange } from './update.ts';
import { writeOptionsOf } from './write-options.ts';

export const handlePatch: Handler = async (call) => {
  const { context, endpoint, scope } = call;
  if (!endpoint.storage.update) throw methodNotAllowed();
  const type = patchTypeOf(context.request.headers.get('content-type'), endpoint.isStrategic);
  const form = objectForm(call);
  const bytes = await readBody(call, 'patch');
  auditRecordOf(context)?.requestPatch(bytes);
  const options = writeOptionsOf(context.request.query, 'PatchOptions', type);
  const request = { type, bytes, options };
  const makeNext = patchMechanism(call, request);
  const trackBehind = type === 'apply' ? applyBehindView(call, request) : undefined;
  const { held, created } = await writeChange(call, {
    options,
    createIfMissing: type === 'apply',
    isPatch: true,
    ...(trackBehind && { trackBehind }),
    async next(live) {
      const next = await makeNext(live);
      const meta = metaOf(next);
      ensureNamespace(meta, scope.namespace);
      checkName(call, meta);
      return next;
    },
  });
  await sendHeld(call, form, created ? 201 : 200, held);
};
