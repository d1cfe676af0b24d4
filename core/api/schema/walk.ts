import type { FieldType, StructType, TypeNode } from './types.ts';

export interface Located {
  readonly type: TypeNode;
  /** The field that the last name of the path stands for; absent inside lists and maps. */
  readonly field?: FieldType;
}

/**
 * The type at a path such as `['spec', 'containers', 0, 'image']`. A number, or any text where the type is a
 * list, steps into the list; any text steps into a map. Undefined where the schema says nothing.
 */
export const typeAt = (root: StructType, path: readonly (string | number)[]): Located | undefined => {
  let at: Located = { type: { node: 'struct', struct: root } };
  for (const step of path) {
    const next = stepInto(at.type, step);
    if (!next) return undefined;
    at = next;
  }
  return at;
};

const stepInto = (type: TypeNode, step: string | number): Located | undefined => {
  switch (type.node) {
    case 'struct': {
      const field = type.struct.fields.get(String(step));
      return field && { type: field.type, field };
    }
    case 'list':
      return { type: type.items };
    case 'map':
      return { type: type.values };
    case 'scalar':
    case 'opaque':
      return undefined;
  }
};

/** A path as messages write it: `spec.containers[0].image`. */
export const pathText = (path: readonly (string | number)[]): string =>
  path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`),
    '',
  );
