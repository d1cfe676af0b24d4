import {
  createFieldManager,
  emptyObjectOf,
  type FieldManager,
  type FieldSet,
} from '../../api/apply/index.ts';
import {
  apiVersionOf,
  parseApiVersion,
  type GroupVersionKind,
  type KubernetesObject,
} from '../../api/meta/index.ts';
import { typeNodeOf } from '../../api/patch/schema-types.ts';
import type { JsonObject } from '../../api/patch/json.ts';
import { convertObject } from '../../api/scheme/index.ts';
import { structOfKind, type StructType } from '../../api/schema/index.ts';

export interface BuiltInFieldsOptions {
  readonly kind: GroupVersionKind;
  readonly struct: StructType;
  readonly subresource: string;
  /** The minor of Kubernetes that is emulated. */
  readonly minor: number;
  readonly ignored?: FieldSet | undefined;
}

/** Who owns what of a built-in kind, in whichever of its versions it was written. */
export const builtInFields = ({
  kind,
  struct,
  subresource,
  minor,
  ignored,
}: BuiltInFieldsOptions): FieldManager =>
  createFieldManager({
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    subresource,
    empty: emptyObjectOf(struct),
    versions: {
      typeOf(apiVersion) {
        const gv = parseApiVersion(apiVersion);
        const found = gv && structOfKind({ ...gv, kind: kind.kind }, minor);
        return found && typeNodeOf(found);
      },
      convert(object, apiVersion) {
        const from = parseApiVersion(String(object['apiVersion'])) ?? kind;
        const to = parseApiVersion(apiVersion) ?? kind;
        return convertObject(
          object as unknown as KubernetesObject,
          { ...from, kind: kind.kind },
          { ...to, kind: kind.kind },
        ) as unknown as JsonObject;
      },
      ignored: () => ignored,
    },
  });
