import type { StructDeclaration, StructTypes, Value } from '../../../cel/index.ts';
import type { Cel } from '../expressions/cel.ts';

export const OBJECT_TYPE = 'Object';
export const JSON_PATCH_TYPE = 'JSONPatch';

const JSON_PATCH_FIELDS = ['op', 'path', 'from', 'value'];

/** `Object{}`, `Object.spec{}` and so on, whose fields may be anything, and `JSONPatch{}`. */
export const patchStructs = ({ types, LiteralStruct, error }: Cel): StructTypes => {
  const { STRING, DYN, structOf } = types;
  const patchType = structOf(JSON_PATCH_TYPE);
  const jsonPatch: StructDeclaration = {
    type: patchType,
    field: (name) => (name === 'value' ? DYN : JSON_PATCH_FIELDS.includes(name) ? STRING : undefined),
    construct(fields) {
      for (const [name, value] of fields)
        if (name !== 'value' && typeof value !== 'string')
          return error(`unexpected type ${typeof value} for JSONPatchType '${name}' field`);
      return new LiteralStruct(patchType, fields);
    },
  };
  const known = new Map<string, StructDeclaration>([[JSON_PATCH_TYPE, jsonPatch]]);
  const declare = (name: string): StructDeclaration => {
    const type = structOf(name);
    return { type, field: () => DYN, construct: (fields) => new LiteralStruct(type, fields) };
  };
  return (name) => {
    if (name !== OBJECT_TYPE && !name.startsWith(`${OBJECT_TYPE}.`)) return known.get(name);
    return known.get(name) ?? declare(name);
  };
};

/** The type of an object must say where it stands: `Object.spec` is the field `spec` of the root. */
export const typeMismatches = (cel: Cel, value: Value, path: readonly string[]): readonly string[] => {
  const { LiteralStruct, CelList, CelMap } = cel;
  if (value instanceof LiteralStruct) {
    const expected = path.join('.');
    const { name } = value.type;
    const own =
      name === expected
        ? []
        : [
            `unexpected type name "${name}", expected "${expected}", which matches field name path from root Object type`,
          ];
    return [
      ...own,
      ...[...value.fields].flatMap(([field, inner]) => typeMismatches(cel, inner, [...path, field])),
    ];
  }
  if (value instanceof CelList) return value.toArray().flatMap((item) => typeMismatches(cel, item, path));
  if (value instanceof CelMap)
    return Array.from(value.keys()).flatMap((key) => typeMismatches(cel, value.find(key)!, path));
  return [];
};
