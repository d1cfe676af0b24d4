import type { KubernetesObject } from '../../../api/meta/index.ts';
import type { TypeNode } from '../../../api/patch/type-node.ts';
import type { Decoded } from '../../../api/schema/index.ts';
import {
  invalid,
  type FieldError,
  type FieldErrorList,
  type FieldErrorType,
} from '../../../api/field/field-error.ts';
import { nameIsDnsSubdomain } from '../../../api/field/formats.ts';
import { objectMeta, objectMetaUpdate } from '../../../api/validation/object-meta.ts';
import { withDefaults } from '../structural/defaults.ts';
import { coerceEmbedded, decodeMeta, embeddedErrors } from '../structural/embedded.ts';
import { listTypeErrors } from '../structural/list-types.ts';
import { pruneNulls, pruneResource } from '../structural/prune.ts';
import { Structural, type JsonMap } from '../structural/structural.ts';
import { resourceTypeNode } from '../structural/type-node.ts';
import { Correlated } from '../values/correlate.ts';
import { fieldErrorOf } from '../values/schema-error.ts';
import { compileValidator, type ValidateValue } from '../values/validate-value.ts';
import type { CustomVersion } from './custom-resource.ts';
import { scaleSpecErrors, scaleStatusErrors } from './scale-view.ts';

/** Rules in CEL; absent where a schema has none. Old is undefined on creation. */
export type CheckRules = (
  object: KubernetesObject,
  old: KubernetesObject | undefined,
  correlated: Correlated | undefined,
) => FieldErrorList;

/** What is wrong in these ways would make rules fail for another reason than their own. */
const BLOCKING: ReadonlySet<FieldErrorType> = new Set<FieldErrorType>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

const NOT_CHECKED =
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

interface ModelOptions {
  readonly isNamespaced: boolean;
  readonly preservesUnknown: boolean;
  readonly loadRules: (schema: Structural) => Promise<CheckRules | undefined>;
}

/** One version of a custom resource: how its objects are read, filled and validated. Made when it is first used. */
export class VersionModel {
  readonly version: CustomVersion;
  readonly structural: Structural;
  readonly typeNode: TypeNode;
  readonly #options: ModelOptions;
  readonly #validate: ValidateValue;
  readonly #validateStatus: ValidateValue | undefined;
  #rules: Promise<CheckRules | undefined> | undefined;

  constructor(version: CustomVersion, options: ModelOptions) {
    const { schema } = version;
    this.version = version;
    this.#options = options;
    this.structural = new Structural(schema);
    this.typeNode = resourceTypeNode(this.structural);
    this.#validate = compileValidator(schema);
    const status = schema.properties?.['status'];
    this.#validateStatus = status && compileValidator(status);
  }

  /** Of a request: what the schema does not specify is removed, and named for strict requests. */
  decode(value: JsonMap): Decoded {
    const unknown: string[] = [];
    const meta = Object.hasOwn(value, 'metadata') ? decodeMeta(value['metadata']) : undefined;
    unknown.push(...(meta?.unknown ?? []).map((name) => `metadata.${name}`));
    const pruned: string[] = [];
    const kept = this.#options.preservesUnknown
      ? value
      : pruneNulls(pruneResource(value, this.structural, pruned), this.structural);
    unknown.push(...pruned.sort());
    const embedded: string[] = [];
    const coerced = coerceEmbedded(kept, this.structural, '', embedded) as JsonMap;
    unknown.push(...embedded.sort());
    const object = { ...coerced, ...(meta && { metadata: meta.metadata }) };
    return { object, strictErrors: unknown.map((name) => `unknown field "${name}"`) };
  }

  /** Of storage: as the schema says today. */
  settle(object: KubernetesObject): KubernetesObject {
    const { structural } = this;
    const filled = withDefaults(this.prune(object), structural);
    if (filled.metadata?.generation) return filled;
    return { ...filled, metadata: { ...filled.metadata, generation: 1 } };
  }

  /** After a conversion: as a request would be read. */
  prune(object: KubernetesObject): KubernetesObject {
    if (this.#options.preservesUnknown) return object;
    return pruneNulls(pruneResource(object as JsonMap, this.structural), this.structural) as KubernetesObject;
  }

  /** In place: defaults. */
  complete(object: JsonMap): void {
    const filled = withDefaults(object, this.structural);
    if (filled !== object) Object.assign(object, filled);
  }

  async validateCreate(object: KubernetesObject): Promise<FieldErrorList> {
    const { scale } = this.version;
    const errors: FieldError[] = [
      ...objectMeta(object as JsonMap, { namespaced: this.#options.isNamespaced, name: nameIsDnsSubdomain }),
      ...this.#validate(object).map((error) => fieldErrorOf('', error)),
      ...(scale ? [...scaleSpecErrors(object, scale), ...scaleStatusErrors(object, scale)] : []),
      ...embeddedErrors('', object, this.structural),
      ...listTypeErrors('', object, this.structural),
    ];
    return this.#withRules(errors, object, undefined, undefined);
  }

  async validateUpdate(object: KubernetesObject, old: KubernetesObject): Promise<FieldErrorList> {
    const { scale } = this.version;
    const correlated = new Correlated(object, old, this.structural);
    const errors: FieldError[] = [
      ...objectMetaUpdate(object as JsonMap, old as JsonMap),
      ...this.#validate(object, correlated).map((error) => fieldErrorOf('', error)),
      ...(scale ? [...scaleSpecErrors(object, scale), ...scaleStatusErrors(object, scale)] : []),
      ...embeddedErrors('', object, this.structural),
      ...this.#newListErrors(object, old),
    ];
    return this.#withRules(errors, object, old, correlated);
  }

  async validateStatus(object: KubernetesObject, old: KubernetesObject): Promise<FieldErrorList> {
    const { scale } = this.version;
    const correlated = new Correlated(object, old, this.structural);
    const status = object['status'];
    const errors: FieldError[] = [
      ...objectMetaUpdate(object as JsonMap, old as JsonMap),
      ...(status === undefined || !this.#validateStatus
        ? []
        : this.#validateStatus(status, correlated.member('status')).map((error) =>
            fieldErrorOf('status', error),
          )),
      ...(scale ? scaleStatusErrors(object, scale) : []),
      ...this.#newListErrors(object, old),
    ];
    return this.#withRules(errors, object, old, correlated);
  }

  /** Lists that had repeated items before they had keys may keep them. */
  #newListErrors(object: KubernetesObject, old: KubernetesObject): FieldError[] {
    const errors = listTypeErrors('', object, this.structural);
    return errors.length > 0 && listTypeErrors('', old, this.structural).length > 0 ? [] : errors;
  }

  async #withRules(
    errors: readonly FieldError[],
    object: KubernetesObject,
    old: KubernetesObject | undefined,
    correlated: Correlated | undefined,
  ): Promise<FieldErrorList> {
    const check = await (this.#rules ??= this.#options.loadRules(this.structural));
    if (!check) return errors;
    if (errors.some(({ type }) => BLOCKING.has(type))) return [...errors, invalid('', null, NOT_CHECKED)];
    return [...errors, ...check(object, old, correlated)];
  }
}
