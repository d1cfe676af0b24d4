import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { ReasonError } from '../../base/errors.ts';
import { isJsonObject } from '../../api/meta/index.ts';

/** A Secret holds 1 MiB; a packed chart is rarely above a tenth of this. */
const UNPACKED_BYTES_MAX = 64 * 1024 * 1024;
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (isJsonObject(value) ? value : {});
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

export interface Hook {
  readonly name: string;
  readonly kind: string;
  readonly events: readonly string[];
}

/** One revision of a release, as helm stored it. */
export interface Release {
  readonly name: string;
  readonly namespace: string;
  readonly revision: number;
  readonly status: string;
  readonly description: string;
  readonly updatedAtMs: number | undefined;
  readonly chart: { readonly name: string; readonly version: string; readonly appVersion: string };
  /** What the user set, and what the chart says without it. */
  readonly values: Fields;
  readonly defaults: Fields;
  readonly notes: string;
  readonly manifest: string;
  readonly hooks: readonly Hook[];
  /** As stored, for a revision that is made of it. */
  readonly raw: Fields;
}

export type ReleaseReason = 'NotARelease';
const notARelease = (why: string, cause?: unknown): ReasonError<ReleaseReason> =>
  new ReasonError('NotARelease', `the stored release cannot be read: ${why}`, { cause });

export const noRelease = (
  namespace: string,
  name: string,
  revision: number | null,
): ReasonError<'NotFound'> =>
  new ReasonError(
    'NotFound',
    `release ${name}${revision === null ? '' : ` revision ${revision}`} not found in namespace ${namespace}; list releases with pilothouse helm list`,
  );

const releaseOf = (raw: Fields): Release => {
  const info = fieldsOf(raw['info']);
  const chart = fieldsOf(raw['chart']);
  const metadata = fieldsOf(chart['metadata']);
  const hooks = Array.isArray(raw['hooks']) ? raw['hooks'].map(fieldsOf) : [];
  const revision = raw['version'];
  if (textOf(raw['name']) === '' || typeof revision !== 'number')
    throw notARelease('it has no name or revision');
  return {
    name: textOf(raw['name']),
    namespace: textOf(raw['namespace']),
    revision,
    status: textOf(info['status']),
    description: textOf(info['description']),
    updatedAtMs: Date.parse(textOf(info['last_deployed'])) || undefined,
    chart: {
      name: textOf(metadata['name']),
      version: textOf(metadata['version']),
      appVersion: textOf(metadata['appVersion']),
    },
    values: fieldsOf(raw['config']),
    defaults: fieldsOf(chart['values']),
    notes: textOf(info['notes']),
    manifest: textOf(raw['manifest']),
    hooks: hooks.map((hook) => ({
      name: textOf(hook['name']),
      kind: textOf(hook['kind']),
      events: Array.isArray(hook['events']) ? hook['events'].map(String) : [],
    })),
    raw,
  };
};

/** `data.release` of a Secret: base64 of the API, base64 of helm, gzip, JSON. Old releases are not packed. */
export const decodeRelease = async (data: string): Promise<Release> => {
  const bytes = Buffer.from(Buffer.from(data, 'base64').toString('latin1'), 'base64');
  let text: string;
  try {
    text = bytes.subarray(0, 2).equals(GZIP_MAGIC)
      ? (await promisify(gunzip)(bytes, { maxOutputLength: UNPACKED_BYTES_MAX })).toString('utf8')
      : bytes.toString('utf8');
  } catch (cause) {
    throw notARelease('its data is damaged or larger than 64 MiB', cause);
  }
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch (cause) {
    throw notARelease('it holds no JSON', cause);
  }
  if (!isJsonObject(raw)) throw notARelease('it holds no object');
  return releaseOf(raw);
};

export const encodeRelease = async (raw: Fields): Promise<string> => {
  const packed = await promisify(gzip)(Buffer.from(JSON.stringify(raw)), { level: 9 });
  return Buffer.from(packed.toString('base64')).toString('base64');
};

/** `sh.helm.release.v1.web.v3`. */
export const secretNameOf = (name: string, revision: number): string =>
  `sh.helm.release.v1.${name}.v${revision}`;
