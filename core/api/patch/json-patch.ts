import { goQuote } from '../field/go-text.ts';
import { doesNotApply, malformed, tooLarge, PatchTestError } from './errors.ts';
import type { Json, JsonObject, MutableObject } from './json.ts';
import { getOwn, isList, isObject, jsonEquals, setOwn } from './json.ts';

/** RFC 6902, with the texts and the leniencies of the library behind the API server. */

export const JSON_PATCH_OPERATIONS_MAX = 10_000;
/** A chain of copies of copies could grow a small request into any amount of memory. */
export const JSON_PATCH_COPIED_NODES_MAX = 1_000_000;

type Container = MutableObject | Json[];

const invalidIndex = (position: number): string =>
  `Unable to access invalid index: ${position}: invalid index referenced`;

const notAnIndex = (text: string): string => `strconv.Atoi: parsing ${goQuote(text)}: invalid syntax`;

const toIndex = (text: string): number | undefined => (/^[-+]?[0-9]+$/.test(text) ? Number(text) : undefined);

const decodeToken = (token: string): string => token.replaceAll('~1', '/').replaceAll('~0', '~');

const countNodes = (value: Json): number => {
  if (isList(value)) return value.reduce<number>((sum, item) => sum + countNodes(item), 1);
  if (isObject(value)) return Object.values(value).reduce<number>((sum, item) => sum + countNodes(item), 1);
  return 1;
};

interface Target {
  readonly container: Container;
  readonly key: string;
}

/**
 * The document while operations run over it. A container is copied the first time an operation writes into
 * it, so the input stays as it is and each container is copied at most once in a patch.
 */
class Draft {
  root: Json;
  readonly #owned = new WeakSet<object>();

  constructor(root: Json) {
    this.root = root;
  }

  /** Containers that came from the patch itself must not be written into either: they may be shared. */
  #own(container: JsonObject | readonly Json[]): Container {
    if (this.#owned.has(container)) return container as Container;
    const copy: Container = isList(container) ? [...container] : { ...(container as JsonObject) };
    this.#owned.add(copy);
    return copy;
  }

  /** The container that holds the last token of the path, ready to be written to; undefined if there is none. */
  find(path: string): Target | undefined {
    const tokens = path.split('/');
    if (tokens.length < 2) return undefined;
    if (!isObject(this.root) && !isList(this.root)) return undefined;
    const parents = tokens.slice(1, -1).map(decodeToken);
    let probe: Json | undefined = this.root;
    for (const token of parents) {
      probe = read(probe as JsonObject | readonly Json[], token).value;
      if (!isObject(probe) && !isList(probe)) return undefined;
    }
    let container = this.#own(this.root);
    this.root = container;
    for (const token of parents) {
      const held = read(container, token).value;
      if (!isObject(held) && !isList(held)) return undefined;
      const next = this.#own(held);
      if (Array.isArray(container)) container[wrap(container, Number(token))] = next;
      else setOwn(container, token, next);
      container = next;
    }
    return { container, key: decodeToken(tokens.at(-1) ?? '') };
  }
}

const wrap = (list: readonly Json[], position: number): number =>
  position < 0 ? position + list.length : position;

/** A missing key of an object reads as nothing; a missing index is an error. */
function read(
  container: JsonObject | readonly Json[],
  key: string,
): { readonly value?: Json | undefined; readonly error?: string } {
  if (!isList(container)) return { value: getOwn(container as JsonObject, key) };
  const position = toIndex(key);
  if (position === undefined) return { error: notAnIndex(key) };
  if (position >= container.length || position < -container.length) return { error: invalidIndex(position) };
  return { value: container[wrap(container, position)] };
}

/** Each writer answers with what is wrong, or nothing. */
function insert({ container, key }: Target, value: Json): string | undefined {
  if (!Array.isArray(container)) {
    setOwn(container, key, value);
    return undefined;
  }
  if (key === '-') {
    container.push(value);
    return undefined;
  }
  const position = toIndex(key);
  if (position === undefined) return `value was not a proper array index: '${key}': ${notAnIndex(key)}`;
  const size = container.length + 1;
  if (position >= size || position < -size) return invalidIndex(position);
  container.splice(position < 0 ? position + size : position, 0, value);
  return undefined;
}

function replaceAt({ container, key }: Target, value: Json): string | undefined {
  if (!Array.isArray(container)) {
    setOwn(container, key, value);
    return undefined;
  }
  const position = toIndex(key);
  if (position === undefined) return notAnIndex(key);
  container[wrap(container, position)] = value;
  return undefined;
}

function removeAt({ container, key }: Target): string | undefined {
  if (!Array.isArray(container)) {
    if (!Object.hasOwn(container, key)) return `Unable to remove nonexistent key: ${key}: missing value`;
    delete container[key];
    return undefined;
  }
  const position = toIndex(key);
  if (position === undefined) return notAnIndex(key);
  if (position >= container.length || position < -container.length) return invalidIndex(position);
  container.splice(wrap(container, position), 1);
  return undefined;
}

interface Operation {
  readonly op: string;
  readonly path: string | undefined;
  readonly from: string | undefined;
  readonly value: Json;
}

const text = (value: Json | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

const jsonKind = (value: unknown): string => {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value;
};

function decode(patch: unknown): Operation[] {
  if (!isList(patch))
    throw malformed(`json: cannot unmarshal ${jsonKind(patch)} into Go value of type jsonpatch.Patch`);
  if (patch.length > JSON_PATCH_OPERATIONS_MAX)
    throw tooLarge(
      `The allowed maximum operations in a JSON patch is ${JSON_PATCH_OPERATIONS_MAX}, got ${patch.length}`,
    );
  return patch.map((operation) => {
    if (!isObject(operation))
      throw malformed(
        `json: cannot unmarshal ${jsonKind(operation)} into Go value of type jsonpatch.Operation`,
      );
    return {
      op: text(getOwn(operation, 'op')) ?? 'unknown',
      path: text(getOwn(operation, 'path')),
      from: text(getOwn(operation, 'from')),
      value: getOwn(operation, 'value') ?? null,
    };
  });
}

const NO_PATH = 'operation missing path field: missing value';
const NO_FROM = 'operation, missing from field: missing value';

const check = (prefix: string, error: string | undefined): void => {
  if (error !== undefined) throw doesNotApply(`${prefix}: ${error}`);
};

function add(draft: Draft, { path, value }: Operation): void {
  if (path === undefined) throw doesNotApply('add operation failed to decode path: missing value');
  const target = draft.find(path);
  if (target === undefined)
    throw doesNotApply(`add operation does not apply: doc is missing path: "${path}": missing value`);
  check(`error in add for path: '${path}'`, insert(target, value));
}

function remove(draft: Draft, { path }: Operation): void {
  if (path === undefined) throw doesNotApply('remove operation failed to decode path: missing value');
  const target = draft.find(path);
  if (target === undefined)
    throw doesNotApply(`remove operation does not apply: doc is missing path: "${path}": missing value`);
  check(`error in remove for path: '${path}'`, removeAt(target));
}

function replace(draft: Draft, { path, value }: Operation): void {
  if (path === undefined) throw doesNotApply(`replace operation failed to decode path: ${NO_PATH}`);
  if (path === '') {
    if (!isObject(value) && !isList(value))
      throw doesNotApply('replace operation value must be object or array: invalid state detected');
    draft.root = value;
    return;
  }
  const target = draft.find(path);
  if (target === undefined)
    throw doesNotApply(`replace operation does not apply: doc is missing path: ${path}: missing value`);
  if (read(target.container, target.key).error !== undefined)
    throw doesNotApply(`replace operation does not apply: doc is missing key: ${path}: missing value`);
  check(`error in remove for path: '${path}'`, replaceAt(target, value));
}

function move(draft: Draft, { path, from }: Operation): void {
  if (from === undefined) throw doesNotApply(`move operation failed to decode from: ${NO_FROM}`);
  const source = draft.find(from);
  if (source === undefined)
    throw doesNotApply(`move operation does not apply: doc is missing from path: ${from}: missing value`);
  const { value, error } = read(source.container, source.key);
  check(`error in move for path: '${source.key}'`, error);
  check(`error in move for path: '${source.key}'`, removeAt(source));
  if (path === undefined) throw doesNotApply(`move operation failed to decode path: ${NO_PATH}`);
  const target = draft.find(path);
  if (target === undefined)
    throw doesNotApply(
      `move operation does not apply: doc is missing destination path: ${path}: missing value`,
    );
  check(`error in move for path: '${path}'`, insert(target, value ?? null));
}

function test(draft: Draft, { path, value }: Operation): void {
  if (path === undefined) throw doesNotApply(`test operation failed to decode path: ${NO_PATH}`);
  if (path === '') {
    if (!jsonEquals(draft.root, value)) throw new PatchTestError(path);
    return;
  }
  const target = draft.find(path);
  if (target === undefined)
    throw doesNotApply(`test operation does not apply: is missing path: ${path}: missing value`);
  const found = read(target.container, target.key);
  check(`error in test for path: '${path}'`, found.error);
  if (!jsonEquals(found.value ?? null, value)) throw new PatchTestError(path);
}

function copy(draft: Draft, { path, from }: Operation): number {
  if (from === undefined) throw doesNotApply(`copy operation failed to decode from: ${NO_FROM}`);
  const source = draft.find(from);
  if (source === undefined)
    throw doesNotApply(`copy operation does not apply: doc is missing from path: ${from}: missing value`);
  const { value = null, error } = read(source.container, source.key);
  check(`error in copy for from: '${from}'`, error);
  if (path === undefined) throw doesNotApply('copy operation failed to decode path: missing value');
  // A real copy: the source may be written to by the operations that follow.
  const copied = structuredClone(value);
  const target = draft.find(path);
  if (target === undefined)
    throw doesNotApply(
      `copy operation does not apply: doc is missing destination path: ${path}: missing value`,
    );
  check('error while adding value during copy', insert(target, copied));
  return countNodes(copied);
}

/** All operations or none: the first that fails throws, and the input is untouched either way. */
export function applyJsonPatch(document: Json, patch: unknown): Json {
  const draft = new Draft(document);
  let copiedNodes = 0;
  for (const operation of decode(patch)) {
    switch (operation.op) {
      case 'add':
        add(draft, operation);
        break;
      case 'remove':
        remove(draft, operation);
        break;
      case 'replace':
        replace(draft, operation);
        break;
      case 'move':
        move(draft, operation);
        break;
      case 'test':
        test(draft, operation);
        break;
      case 'copy':
        copiedNodes += copy(draft, operation);
        if (copiedNodes > JSON_PATCH_COPIED_NODES_MAX)
          throw tooLarge(`The copies of a JSON patch hold more than ${JSON_PATCH_COPIED_NODES_MAX} values`);
        break;
      default:
        throw doesNotApply(`Unexpected kind: ${operation.op}`);
    }
  }
  return draft.root;
}
