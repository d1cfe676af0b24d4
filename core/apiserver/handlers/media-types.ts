import { noSuchMediaType, unsupportedMediaType } from '../../api/meta/index.ts';

export const JSON_MEDIA_TYPE = 'application/json';
export const YAML_MEDIA_TYPE = 'application/yaml';

export const PROTOBUF_MEDIA_TYPE = 'application/vnd.kubernetes.protobuf';

export type Encoding = 'json' | 'yaml';
/** Clients that are written in Go send protobuf; all of them read JSON, so none is ever answered. */
export type BodyEncoding = Encoding | 'protobuf';

/** What answers are, in upstream's order of preference. */
export const MEDIA_TYPES: readonly string[] = [JSON_MEDIA_TYPE, YAML_MEDIA_TYPE];
export const STREAM_MEDIA_TYPES: readonly string[] = [`${JSON_MEDIA_TYPE};stream=watch`];

/** What routes of built-in kinds say that they answer with. */
export const REPRESENTATIONS: readonly string[] = [JSON_MEDIA_TYPE, YAML_MEDIA_TYPE, PROTOBUF_MEDIA_TYPE];
export const LIST_REPRESENTATIONS: readonly string[] = [
  ...REPRESENTATIONS,
  `${JSON_MEDIA_TYPE};stream=watch`,
  `${PROTOBUF_MEDIA_TYPE};stream=watch`,
];

const ENCODINGS: Readonly<Record<string, BodyEncoding | undefined>> = {
  [JSON_MEDIA_TYPE]: 'json',
  [YAML_MEDIA_TYPE]: 'yaml',
  [PROTOBUF_MEDIA_TYPE]: 'protobuf',
};

/** `application/json; charset=utf-8` without its parameters. */
export const bareMediaType = (header: string): string => {
  const semicolon = header.indexOf(';');
  return (semicolon < 0 ? header : header.slice(0, semicolon)).trim().toLowerCase();
};

/** The form of a body; JSON where the client does not say. */
export const bodyEncoding = (contentType: string | undefined): BodyEncoding => {
  if (contentType === undefined || contentType === '') return 'json';
  const encoding = ENCODINGS[bareMediaType(contentType)];
  if (encoding === undefined) throw unsupportedMediaType(Object.keys(ENCODINGS));
  return encoding;
};

export type PatchType = 'json' | 'merge' | 'strategic' | 'apply';

const PATCH_TYPES: Readonly<Record<string, PatchType | undefined>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

export const patchTypeOf = (contentType: string | undefined, isStrategic: boolean): PatchType => {
  const type = PATCH_TYPES[bareMediaType(contentType ?? '')];
  if (type !== undefined && (isStrategic || type !== 'strategic')) return type;
  // Built-in kinds are those that know strategic patches: their router answers before a handler is asked.
  if (isStrategic) throw noSuchMediaType();
  const accepted = Object.entries(PATCH_TYPES).filter(([, known]) => known !== 'strategic');
  throw unsupportedMediaType(accepted.map(([name]) => name));
};
