import { parseJsonText } from '../../core/api/meta/json-text.ts';
import { isStatusError } from '../../core/api/meta/status.ts';
import type { Client } from '../../core/client/index.ts';
import { type ApiAnswer, type ApiRequest, ContractError, say } from '../../core/contract/index.ts';
import { kubeFailure, refusalOf } from './failure.ts';

/** What one answer may weigh on its way to the page; lists are for `kube.table`. */
const ANSWER_CHARACTERS_MAX = 4 * 1024 * 1024;

const ALLOWED_PATH = /^\/(?:api|apis|version)(?:\/[A-Za-z0-9._:%~-]+)*$/;
/** These open a way into a pod or to another server; they have calls of their own, or none. */
const TUNNELS = new Set(['exec', 'attach', 'portforward', 'proxy']);

/** Fails unless the path is one of the API's, in its only spelling. */
export const checkedPath = (path: string): string => {
  const parts = path.split('/');
  const isPlain =
    ALLOWED_PATH.test(path) && parts.every((part) => part !== '.' && part !== '..' && !/%2[ef]/i.test(part));
  if (!isPlain) throw new ContractError('BadRequest', say('failure.notApiPath', { path }));
  if (parts.some((part, index) => TUNNELS.has(part) && index > 4))
    throw new ContractError('BadRequest', say('failure.isStream', { path }));
  return path;
};

const isDryRun = (request: ApiRequest): boolean => request.query?.['dryRun'] === 'All';

/** Whether the request may change the cluster. */
export const isWrite = (request: ApiRequest): boolean => request.method !== 'GET' && !isDryRun(request);

export const sendRequest = async (
  client: Client,
  request: ApiRequest,
  signal: AbortSignal,
): Promise<ApiAnswer> => {
  const { method, path, query, body, contentType } = request;
  try {
    const text = await client.text({
      method,
      path: checkedPath(path),
      signal,
      ...(query && { query }),
      ...(body !== undefined && { body, contentType: contentType ?? 'application/json' }),
    });
    if (text.length > ANSWER_CHARACTERS_MAX)
      throw new ContractError('BadRequest', say('failure.tooLarge', { request: `${method} ${path}` }));
    return { ok: true, body: text === '' ? null : parseJsonText(text) };
  } catch (error) {
    if (isStatusError(error)) return { ok: false, refusal: refusalOf(error) };
    throw kubeFailure(error);
  }
};
