import { badRequest, unsupportedMediaType } from '../../api/meta/status-errors.ts';
import { apiVersionOf } from '../../api/meta/group-version.ts';
import type { KubernetesObject } from '../../api/meta/object-meta.ts';
import { createFieldManager, emptyObjectOf } from '../../api/apply/index.ts';
import { applyJsonPatch } from '../../api/patch/json-patch.ts';
import { applyMergePatch } from '../../api/patch/merge-patch.ts';
import { applyStrategicMergePatch } from '../../api/patch/strategic-merge-patch.ts';
import { typeNodeOf } from '../../api/patch/schema-types.ts';
import { UNTYPED } from '../../api/patch/type-node.ts';
import type { Json, JsonObject } from '../../api/patch/json.ts';
import { structOfKind } from '../../api/schema/index.ts';
import type { ResourceType } from '../../api/scheme/resource-type.ts';
import type { AnyStored } from './memory-store.ts';

export const APPLY = 'application/apply-patch+yaml';

/** The object after the patch, before the rules of updates are applied to it. */
export const patched = (
  type: ResourceType,
  live: AnyStored,
  contentType: string,
  patch: unknown,
): KubernetesObject => {
  const document = live as unknown as JsonObject;
  const struct = structOfKind(type);
  switch (contentType) {
    case 'application/json-patch+json':
      return applyJsonPatch(document as Json, patch) as unknown as KubernetesObject;
    case 'application/merge-patch+json':
      return applyMergePatch(document, patch) as unknown as KubernetesObject;
    case 'application/strategic-merge-patch+json':
      if (!struct)
        throw unsupportedMediaType(['application/json-patch+json', 'application/merge-patch+json']);
      return applyStrategicMergePatch(document, patch, typeNodeOf(struct)) as unknown as KubernetesObject;
    default:
      throw unsupportedMediaType(['application/json-patch+json', 'application/merge-patch+json', APPLY]);
  }
};

/** Server-side apply, with the same merging that the API server does. */
export const applied = (
  type: ResourceType,
  live: AnyStored | undefined,
  config: unknown,
  options: {
    readonly manager: string;
    readonly force: boolean;
    readonly subresource: string;
    readonly time: string;
  },
): KubernetesObject => {
  if (options.manager === '') throw badRequest('fieldManager is required for apply patch');
  const struct = structOfKind(type);
  const manager = createFieldManager({
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    ...(options.subresource !== '' && { subresource: options.subresource }),
    ...(struct && { empty: emptyObjectOf(struct) }),
    versions: { typeOf: () => (struct ? typeNodeOf(struct) : UNTYPED), convert: (object) => object },
  });
  return manager.apply({
    live: live as unknown as JsonObject | undefined,
    config: config as JsonObject,
    manager: options.manager,
    force: options.force,
    time: options.time,
  }) as unknown as KubernetesObject;
};
