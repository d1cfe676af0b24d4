import * as v from 'valibot';
import { clusterRef } from './kube.ts';

/** Entries of one folder that are listed. */
export const FOLDER_ENTRIES_MAX = 5_000;
/** One message carries so much of a file. */
export const FILE_CHUNK_BYTES_MAX = 192 * 1024;
/** A larger file or folder is not copied through the console. */
export const DOWNLOAD_BYTES_MAX = 512 * 1024 * 1024;
export const UPLOAD_BYTES_MAX = 512 * 1024 * 1024;
const PATH_CHARACTERS_MAX = 4096;
const NAME_CHARACTERS_MAX = 255;
const BASE64_CHARACTERS_MAX = Math.ceil(FILE_CHUNK_BYTES_MAX / 3) * 4;

const bounded = v.pipe(v.string(), v.minLength(1), v.maxLength(253));
/** Absolute, without NUL: what `execve` can be given. */
const path = v.pipe(
  v.string(),
  v.maxLength(PATH_CHARACTERS_MAX),
  v.startsWith('/'),
  v.check((text) => !text.includes('\0'), 'contains NUL'),
);
/** One name in a folder, whatever characters it has. */
const fileName = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(NAME_CHARACTERS_MAX),
  v.check((text) => !/[/\0]/.test(text) && text !== '.' && text !== '..', 'is not a name in a folder'),
);
const place = { cluster: clusterRef, namespace: bounded, pod: bounded, container: bounded };
const session = v.pipe(v.string(), v.minLength(16), v.maxLength(64), v.regex(/^[0-9a-f]+$/));
const bytes = v.pipe(v.number(), v.integer(), v.minValue(0));

export const folderQuery = v.object({ ...place, folder: path });
export type FolderQuery = v.InferOutput<typeof folderQuery>;

export const folderEntry = v.object({
  name: v.string(),
  type: v.picklist(['file', 'directory', 'other']),
  /** A symbolic link; `type` is that of its target, `other` where there is none. */
  isLink: v.boolean(),
  sizeBytes: v.number(),
  mode: v.number(),
  mtimeMs: v.number(),
});
export type FolderEntry = v.InferOutput<typeof folderEntry>;

export const folderListing = v.object({
  entries: v.pipe(v.array(folderEntry), v.maxLength(FOLDER_ENTRIES_MAX)),
  /** There are more than are listed. */
  isCut: v.boolean(),
  /** What could not be read, as the container says it. */
  problem: v.nullable(v.string()),
});
export type FolderListing = v.InferOutput<typeof folderListing>;

export const downloadQuery = v.object({ ...place, folder: path, name: fileName, isFolder: v.boolean() });
export type DownloadQuery = v.InferOutput<typeof downloadQuery>;

export const downloadItem = v.variant('kind', [
  /** `sizeBytes` is null of a folder, which is packed while it is read. */
  v.object({ kind: v.literal('begin'), sizeBytes: v.nullable(bytes) }),
  v.object({ kind: v.literal('bytes'), base64: v.string() }),
  /** `leftOut`: entries of a folder that would have led out of it. */
  v.object({ kind: v.literal('end'), leftOut: v.number() }),
]);
export type DownloadItem = v.InferOutput<typeof downloadItem>;

export const uploadQuery = v.object({
  ...place,
  session,
  folder: path,
  name: fileName,
  sizeBytes: v.pipe(bytes, v.maxValue(UPLOAD_BYTES_MAX)),
});
export type UploadQuery = v.InferOutput<typeof uploadQuery>;

export const uploadItem = v.variant('kind', [
  v.object({ kind: v.literal('ready') }),
  v.object({ kind: v.literal('done') }),
]);
export type UploadItem = v.InferOutput<typeof uploadItem>;

export const uploadChunk = v.object({
  session,
  base64: v.pipe(v.string(), v.maxLength(BASE64_CHARACTERS_MAX), v.base64()),
});
