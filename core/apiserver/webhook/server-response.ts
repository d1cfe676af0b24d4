import type { StatusError } from '../../api/meta/index.ts';
import { isJsonObject, statusErrorFrom, type Status } from '../../api/meta/index.ts';
import { goQuote } from '../../api/field/go-text.ts';

/** What client-go says of codes whose answer says nothing itself. */
const WORDS: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason',
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict',
  422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};
/** The answer's own text takes the place of words. */
const OWN_WORDS = new Set([403, 406, 415]);

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** The error of an answer that is none of 2xx, as client-go makes it. */
export const errorOfResponse = (code: number, contentType: string, body: Buffer): StatusError => {
  const text = body.toString('utf8');
  const status = parsed(text);
  if (isJsonObject(status) && status['kind'] === 'Status' && status['status'] === 'Failure')
    return statusErrorFrom(status as Partial<Status>, code);
  const said = contentType.startsWith('text/') ? text.trim() : 'unknown';
  const message = OWN_WORDS.has(code)
    ? said
    : (WORDS[code] ??
      (code >= 500
        ? `an error on the server (${goQuote(said)}) has prevented the request from succeeding`
        : `the server responded with the status code ${code} but did not return more information`));
  return statusErrorFrom({ message }, code);
};
