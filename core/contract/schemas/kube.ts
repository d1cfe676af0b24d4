import * as v from 'valibot';
import { said } from '../sentences/said.ts';

/** Names, paths and selectors of Kubernetes are short; what is longer is no name. */
const NAME_CHARACTERS_MAX = 512;
const SELECTOR_CHARACTERS_MAX = 8192;
const PATH_CHARACTERS_MAX = 2048;
export const CELLS_MAX = 64;
export const TABLE_ROWS_PER_ITEM_MAX = 200;
export const LOG_LINES_PER_ITEM_MAX = 500;
const EXEC_INPUT_CHARACTERS_MAX = 64 * 1024;
const COMMAND_WORDS_MAX = 64;

const name = v.pipe(v.string(), v.maxLength(NAME_CHARACTERS_MAX));
const selector = v.pipe(v.string(), v.maxLength(SELECTOR_CHARACTERS_MAX));
const json = v.record(v.string(), v.unknown());

/** The id of an entry of `clusters.list`. */
export const clusterRef = name;

export const resourceRef = v.object({ group: name, version: name, plural: name });
export type ResourceRef = v.InferOutput<typeof resourceRef>;

export const kubeResource = v.object({
  ...resourceRef.entries,
  kind: v.string(),
  namespaced: v.boolean(),
  singular: v.string(),
  shortNames: v.array(v.string()),
  categories: v.array(v.string()),
  verbs: v.array(v.string()),
  subresources: v.array(v.string()),
  isPreferred: v.boolean(),
});
export type KubeResource = v.InferOutput<typeof kubeResource>;

export const kubeDiscovery = v.object({
  serverVersion: v.string(),
  resources: v.array(kubeResource),
  /** Group versions whose server did not answer: their resources are missing, not gone. */
  failed: v.array(v.object({ groupVersion: v.string(), message: said })),
});
export type KubeDiscovery = v.InferOutput<typeof kubeDiscovery>;

export const tableQuery = v.object({
  cluster: clusterRef,
  resource: resourceRef,
  /** Null for all namespaces that the user may list, and for what has none. */
  namespace: v.nullable(name),
  /** Empty for everything. */
  labelSelector: selector,
  fieldSelector: selector,
});
export type TableQuery = v.InferOutput<typeof tableQuery>;

export const tableColumn = v.object({
  name: v.string(),
  type: v.string(),
  format: v.string(),
  description: v.string(),
  /** Zero is always shown; the rest is what `kubectl get -o wide` adds. */
  priority: v.number(),
});
export type TableColumn = v.InferOutput<typeof tableColumn>;

export const tableCell = v.nullable(v.union([v.string(), v.number(), v.boolean()]));
export type TableCell = v.InferOutput<typeof tableCell>;

export const tableRow = v.object({
  /** namespace/name: stable while an object is deleted and made again. */
  key: v.string(),
  uid: v.string(),
  name: v.string(),
  namespace: v.string(),
  createdAtMs: v.nullable(v.number()),
  isDeleting: v.boolean(),
  labels: v.record(v.string(), v.string()),
  cells: v.pipe(v.array(tableCell), v.maxLength(CELLS_MAX)),
});
export type TableRow = v.InferOutput<typeof tableRow>;

/** How far a list can be trusted, by the host's own clock. */
export const watchHealth = v.object({
  phase: v.picklist(['listing', 'watching', 'waiting']),
  resourceVersion: v.string(),
  /** The last event or bookmark; null before the first. */
  lastEventAtMs: v.nullable(v.number()),
  /** How often everything had to be read again because the watch could not be continued. */
  relistCount: v.number(),
  eventCount: v.number(),
  /** Why it waits. */
  error: v.nullable(said),
});
export type WatchHealth = v.InferOutput<typeof watchHealth>;

export const tableItem = v.variant('kind', [
  v.object({ kind: v.literal('columns'), columns: v.pipe(v.array(tableColumn), v.maxLength(CELLS_MAX)) }),
  /** Rows that are new or changed. */
  v.object({ kind: v.literal('rows'), rows: v.array(tableRow) }),
  v.object({ kind: v.literal('gone'), keys: v.array(v.string()) }),
  /** Everything that was there when the list was read has been sent. */
  v.object({ kind: v.literal('listed') }),
  v.object({ kind: v.literal('health'), health: watchHealth }),
  /** The user may not list all namespaces: these are the rows of the one they work in. */
  v.object({ kind: v.literal('scope'), namespace: v.string() }),
]);
export type TableItem = v.InferOutput<typeof tableItem>;

export const objectRef = v.object({
  cluster: clusterRef,
  resource: resourceRef,
  namespace: v.nullable(name),
  name,
});
export type ObjectRef = v.InferOutput<typeof objectRef>;

export const objectItem = v.variant('kind', [
  v.object({ kind: v.literal('object'), object: json }),
  v.object({ kind: v.literal('gone') }),
  v.object({ kind: v.literal('health'), health: watchHealth }),
]);
export type ObjectItem = v.InferOutput<typeof objectItem>;

export const FOUND_PER_ITEM_MAX = 500;

/** An object as it is searched for. `resource` is as kubectl takes it: `deployments.apps`. */
export const foundObject = v.object({
  resource: v.string(),
  namespace: v.string(),
  name: v.string(),
  /** `key=value`, with spaces between. */
  labels: v.string(),
  addresses: v.array(v.string()),
});
export type FoundObject = v.InferOutput<typeof foundObject>;

export const foundItem = v.variant('kind', [
  /** Objects that are new or changed. */
  v.object({ kind: v.literal('objects'), objects: v.array(foundObject) }),
  /** resource/namespace/name of what was deleted. */
  v.object({ kind: v.literal('gone'), keys: v.array(v.string()) }),
  v.object({
    kind: v.literal('state'),
    listedCount: v.number(),
    kindCount: v.number(),
    /** There are more objects than are searched. */
    isCut: v.boolean(),
    /** Kinds that this user may not list. */
    refused: v.array(v.string()),
  }),
]);
export type FoundItem = v.InferOutput<typeof foundItem>;

const cause = v.object({ field: v.string(), message: v.string(), reason: v.string() });

/** A request the server refused, as its Status says it. */
export const refusal = v.object({
  code: v.number(),
  reason: v.string(),
  message: v.string(),
  causes: v.array(cause),
});
export type Refusal = v.InferOutput<typeof refusal>;

export const apiRequest = v.object({
  cluster: clusterRef,
  method: v.picklist(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: v.pipe(v.string(), v.maxLength(PATH_CHARACTERS_MAX)),
  query: v.optional(v.record(v.string(), selector)),
  contentType: v.optional(
    v.picklist([
      'application/json',
      'application/json-patch+json',
      'application/merge-patch+json',
      'application/strategic-merge-patch+json',
    ]),
  ),
  body: v.optional(v.unknown()),
});
export type ApiRequest = v.InferOutput<typeof apiRequest>;

export const apiAnswer = v.variant('ok', [
  v.object({ ok: v.literal(true), body: v.unknown() }),
  v.object({ ok: v.literal(false), refusal }),
]);
export type ApiAnswer = v.InferOutput<typeof apiAnswer>;

export const applyRequest = v.object({
  cluster: clusterRef,
  object: json,
  dryRun: v.boolean(),
  /** Takes fields over from other managers. */
  force: v.boolean(),
  fieldManager: v.pipe(v.string(), v.minLength(1), v.maxLength(128)),
  defaultNamespace: name,
});
export type ApplyRequest = v.InferOutput<typeof applyRequest>;

export const fieldConflict = v.object({ manager: v.string(), field: v.string(), message: v.string() });
export type FieldConflict = v.InferOutput<typeof fieldConflict>;

export const applyResult = v.object({
  outcome: v.picklist(['created', 'configured', 'unchanged', 'conflict', 'refused']),
  /** Before, and after: null where there is none. */
  live: v.nullable(json),
  result: v.nullable(json),
  namespace: v.string(),
  conflicts: v.array(fieldConflict),
  refusal: v.nullable(refusal),
});
export type ApplyResult = v.InferOutput<typeof applyResult>;

export const logQuery = v.object({
  cluster: clusterRef,
  namespace: name,
  pod: name,
  container: name,
  follow: v.boolean(),
  previous: v.boolean(),
  tailLines: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(100_000)),
  /** Nothing older; without it the number of lines is the only bound. */
  sinceSeconds: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(31_536_000))),
});
export type LogQuery = v.InferOutput<typeof logQuery>;

/** Lines with the time stamp that the kubelet gave them. */
export const logItem = v.object({ lines: v.array(v.string()) });

/** Named by the console, which also sends the input: 128 bits from the page's own random source. */
const session = v.pipe(v.string(), v.minLength(16), v.maxLength(64));

export const execQuery = v.object({
  session,
  cluster: clusterRef,
  namespace: name,
  pod: name,
  container: name,
  command: v.pipe(
    v.array(v.pipe(v.string(), v.maxLength(4096))),
    v.minLength(1),
    v.maxLength(COMMAND_WORDS_MAX),
  ),
  columns: v.number(),
  rows: v.number(),
});
export type ExecQuery = v.InferOutput<typeof execQuery>;

export const execItem = v.variant('kind', [
  v.object({ kind: v.literal('opened') }),
  v.object({ kind: v.literal('output'), text: v.string() }),
  v.object({ kind: v.literal('ended'), exitCode: v.nullable(v.number()), message: v.nullable(said) }),
]);
export type ExecItem = v.InferOutput<typeof execItem>;

export const execInput = v.object({
  session,
  text: v.optional(v.pipe(v.string(), v.maxLength(EXEC_INPUT_CHARACTERS_MAX))),
  size: v.optional(v.object({ columns: v.number(), rows: v.number() })),
});

/** `components.schemas` of one group version, as the server publishes it. */
export const openApiSchemas = v.object({ schemas: json });
