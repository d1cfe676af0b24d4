import { jsonText } from '../../api/meta/json-text.ts';
import type { FieldManager, UpdateRequest } from '../../api/apply/index.ts';
import type { Json, JsonObject } from '../../api/patch/json.ts';

/** Shapes that are remembered for one endpoint: controllers make thousands of objects of a few shapes. */
const SHAPES_MAX = 128;
/** Larger objects are rare, and their shapes rarely come twice. */
const SHAPE_LENGTH_MAX = 8 * 1024;

/**
 * What decides who owns what of a new object: the names of its members and everything in its lists, whose items may be
 * named by their content. Of single members only whether they are the zero value matters, which a new object
 * already has. Undefined where it is too long.
 */
export const shapeOf = (object: JsonObject): string | undefined => {
  let shape = '';
  const visit = (value: Json | undefined): boolean => {
    if (value === null) shape += '0';
    else if (Array.isArray(value)) shape += jsonText(value);
    else if (typeof value === 'object') {
      shape += '{';
      for (const name in value) {
        // Names may hold any character; with its length in front each one can be told from what follows.
        shape += `${name.length}:${name}`;
        if (!visit((value as JsonObject)[name])) return false;
      }
      shape += '}';
    } else shape += value === '' || value === 0 || value === false ? '2' : '1';
    return shape.length <= SHAPE_LENGTH_MAX;
  };
  return visit(object) ? shape : undefined;
};

/**
 * A field manager that works out the owners of a new object once for each shape. Objects of one shape then share the
 * tree that tells of their fields, so it must never be changed in place, as nothing of a stored object is.
 */
export const rememberingShapes = (fields: FieldManager): FieldManager => {
  const known = new Map<string, readonly JsonObject[]>();

  const create = (request: UpdateRequest): JsonObject => {
    const { next, manager, time } = request;
    const shape = shapeOf(next);
    if (shape === undefined) return fields.update(request);
    const id = `${manager.length}:${manager}${shape}`;
    const entries = known.get(id);
    if (entries !== undefined) {
      const metadata = next['metadata'] as JsonObject | undefined;
      const managedFields = entries.map((entry) => ({ ...entry, time }));
      return { ...next, metadata: { ...metadata, managedFields } };
    }
    const tracked = fields.update(request);
    const made = (tracked['metadata'] as JsonObject | undefined)?.['managedFields'];
    if (Array.isArray(made)) {
      if (known.size >= SHAPES_MAX) known.delete(known.keys().next().value!);
      known.set(id, made as readonly JsonObject[]);
    }
    return tracked;
  };

  return {
    apply: (request) => fields.apply(request),
    update(request) {
      const isPlainCreate =
        request.live === undefined &&
        (request.next['metadata'] as JsonObject | undefined)?.['managedFields'] === undefined;
      return isPlainCreate ? create(request) : fields.update(request);
    },
  };
};
