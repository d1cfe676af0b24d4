import { StorageError } from './errors.ts';

const VERSION = 'meta.k8s.io/v1';
/** A token for the rest of a list whose revision is gone: read at what is there now. */
export const INCONSISTENT_REVISION = -1;

export interface ContinuePoint {
  /** The first key of the next page. */
  readonly startKey: string;
  /** The revision all pages are read at, or INCONSISTENT_REVISION. */
  readonly revision: number;
}

const invalid = (what: string): StorageError =>
  new StorageError('InvalidContinue', `continue key is not valid: ${what}`);

/** Upstream's token: clients keep it as it is, and both kinds of API server read it. */
export const encodeContinue = (point: ContinuePoint, prefix: string): string => {
  const start = point.startKey.slice(prefix.length);
  return Buffer.from(JSON.stringify({ v: VERSION, rv: point.revision, start })).toString('base64url');
};

export const decodeContinue = (token: string, prefix: string): ContinuePoint => {
  const strange = token.search(/[^A-Za-z0-9_-]/);
  if (strange >= 0 || token.length % 4 === 1)
    throw invalid(`illegal base64 data at input byte ${strange >= 0 ? strange : token.length - 1}`);
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(token, 'base64url').toString('utf8'));
  } catch (error) {
    throw new StorageError('InvalidContinue', 'continue key is not valid: it is no token of a list', {
      cause: error,
    });
  }
  if (typeof parsed !== 'object' || parsed === null) throw invalid('it is no token of a list');
  const { v, rv, start } = parsed as Record<string, unknown>;
  if (v !== VERSION) throw invalid(`server does not recognize this encoded version ${JSON.stringify(v)}`);
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0)
    throw invalid('incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  if (typeof start !== 'string' || start === '')
    throw invalid('encoded start key empty (version meta.k8s.io/v1)');
  // The key stays below the prefix of the request: a token made for another list, or by hand, reads nothing else.
  const path = start.startsWith('/') ? start : `/${start}`;
  if (path.split('/').some((part) => part === '..' || part === '.'))
    throw invalid(`${start} leaves the list`);
  return { startKey: prefix + path.slice(1), revision: rv };
};
