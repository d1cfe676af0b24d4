import type { FieldManager } from '../../api/apply/index.ts';
import { apiVersionOf, kindOf, type KubernetesObject } from '../../api/meta/index.ts';
import type { JsonObject } from '../../api/patch/json.ts';
import { structOfKind } from '../../api/schema/index.ts';
import { builtInFields } from '../registry/built-in-fields.ts';

/** Under this name a server of upstream owns the fields that it writes. */
const MANAGER = 'kube-apiserver';

export interface OwnChange {
  readonly live: KubernetesObject | undefined;
  readonly next: KubernetesObject;
  readonly subresource: string;
  readonly time: string;
}

/** Notes the server as the owner of what it writes past its handlers, as for any other client. */
export const ownFields = (minor: number): ((change: OwnChange) => KubernetesObject) => {
  const managers = new Map<string, FieldManager | undefined>();

  const managerOf = (object: KubernetesObject, subresource: string): FieldManager | undefined => {
    const gvk = kindOf(object);
    const struct = gvk && structOfKind(gvk, minor);
    if (!gvk || !struct) return undefined;
    const apiVersion = apiVersionOf(gvk);
    const id = `${apiVersion} ${gvk.kind} ${subresource}`;
    const known = managers.get(id);
    if (known) return known;
    const made = builtInFields({ kind: gvk, struct, subresource, minor });
    managers.set(id, made);
    return made;
  };

  return ({ live, next, subresource, time }) => {
    const fields = managerOf(next, subresource);
    if (!fields) return next;
    return fields.update({
      live: live as JsonObject | undefined,
      next: next as JsonObject,
      manager: MANAGER,
      time,
    }) as unknown as KubernetesObject;
  };
};
