import type { IncomingMessage } from 'node:http';
import { StreamingError } from './streaming-error.ts';

/** The URL of a request; undefined for text that is none, such as `//`. */
export const urlOf = (request: IncomingMessage): URL | undefined => {
  try {
    return new URL(request.url ?? '/', 'https://kubelet');
  } catch {
    return undefined;
  }
};

/** The decoded segments of a path. StreamingError `BadRequest` for an escape that is none. */
export const segmentsOf = (path: string): string[] => {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch (error) {
    throw new StreamingError('BadRequest', 'the path of the request is malformed', { cause: error });
  }
};
