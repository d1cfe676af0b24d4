import * as v from 'valibot';
import { said } from '../sentences/said.ts';
import { clusterRef } from './kube.ts';

export const EXTENSIONS_MAX = 16;
export const EXTENSION_READS_MAX = 32;
/** One page of a list; the next one is asked for with its token. */
export const EXTENSION_LIST_MAX = 500;
const TITLE_CHARACTERS_MAX = 40;
const DESCRIPTION_CHARACTERS_MAX = 300;
const SELECTOR_CHARACTERS_MAX = 1024;
const CONTINUE_CHARACTERS_MAX = 2048;

/** The name of its folder. */
export const extensionName = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,39}$/));
/** `pods`, `deployments.apps`: as kubectl takes it. No subresource can be named, so no log, shell or token either. */
const resourceName = v.pipe(
  v.string(),
  v.maxLength(300),
  v.regex(/^[a-z][a-z0-9-]*(\.[a-z0-9][a-z0-9.-]*)?$/),
);
/** Nothing that a person cannot see: it could make a title read as another. */
const plainText = (charactersMax: number) =>
  v.pipe(
    v.string(),
    v.nonEmpty(),
    v.maxLength(charactersMax),
    v.check((text) => !/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text), 'invisible characters are not allowed'),
  );

/** `extension.json` of an extension's folder. Unknown keys are refused: one may be meant as a limit. */
export const extensionManifest = v.strictObject({
  apiVersion: v.literal('pilothouse.dev/v1'),
  title: plainText(TITLE_CHARACTERS_MAX),
  description: v.optional(plainText(DESCRIPTION_CHARACTERS_MAX)),
  /** What its page may get and list. */
  read: v.pipe(
    v.array(
      v.pipe(
        resourceName,
        v.check((name) => name !== 'secrets', 'extensions cannot read Secrets'),
      ),
    ),
    v.maxLength(EXTENSION_READS_MAX),
  ),
});
export type ExtensionManifest = v.InferOutput<typeof extensionManifest>;

export const extensionEntry = v.object({
  name: v.string(),
  folder: v.string(),
  title: v.string(),
  description: v.string(),
  read: v.array(v.string()),
  /** Of every file that decides what it does; empty where they cannot be used. */
  fingerprint: v.string(),
  /** The person has agreed to exactly these files. */
  isAllowed: v.boolean(),
  /** The person has agreed to other files of the same name. */
  wasAllowed: v.boolean(),
  /** Why it cannot be used. */
  problem: v.nullable(said),
});
export type ExtensionEntry = v.InferOutput<typeof extensionEntry>;

export const extensionList = v.object({
  /** Where folders of extensions are looked for. */
  folder: v.string(),
  extensions: v.pipe(v.array(extensionEntry), v.maxLength(EXTENSIONS_MAX)),
  /** There are more folders than are listed. */
  isCut: v.boolean(),
});
export type ExtensionList = v.InferOutput<typeof extensionList>;

const fingerprint = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
export const extensionRef = v.object({ name: extensionName, fingerprint });
export type ExtensionRef = v.InferOutput<typeof extensionRef>;

/** A segment of a path, as the API allows it; empty in places where that means all. */
const objectName = v.pipe(v.string(), v.maxLength(253), v.regex(/^(?!\.{1,2}$)[^/%]*$/));

/** What the page of an extension may ask for. */
export const extensionRequest = v.variant('kind', [
  v.object({
    kind: v.literal('list'),
    resource: resourceName,
    /** Empty: all of them. */
    namespace: v.optional(objectName),
    labelSelector: v.optional(v.pipe(v.string(), v.maxLength(SELECTOR_CHARACTERS_MAX))),
    limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(EXTENSION_LIST_MAX))),
    continue: v.optional(v.pipe(v.string(), v.maxLength(CONTINUE_CHARACTERS_MAX))),
  }),
  v.object({
    kind: v.literal('get'),
    resource: resourceName,
    namespace: v.optional(objectName),
    name: v.pipe(objectName, v.nonEmpty()),
  }),
]);
export type ExtensionRequest = v.InferOutput<typeof extensionRequest>;

export const extensionRead = v.object({
  cluster: clusterRef,
  extension: extensionRef,
  request: extensionRequest,
});

/** The object or the list, as the API serves it, without `managedFields`. */
export const extensionAnswer = v.object({ body: v.record(v.string(), v.unknown()) });
export type ExtensionAnswer = v.InferOutput<typeof extensionAnswer>;

const PAGES = '/extension-page/';

/** Where the host serves the page of an extension, as exactly these files. */
export const extensionPagePath = ({ name, fingerprint: print }: ExtensionRef): string =>
  `${PAGES}${name}/${print}`;

/** The opposite; undefined for every other path. */
export const extensionOfPath = (path: string): ExtensionRef | undefined => {
  if (!path.startsWith(PAGES)) return undefined;
  const [name, print, ...more] = path.slice(PAGES.length).split('/');
  const parsed = v.safeParse(extensionRef, { name, fingerprint: print });
  return parsed.success && more.length === 0 ? parsed.output : undefined;
};
