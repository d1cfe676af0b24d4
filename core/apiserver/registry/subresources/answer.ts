import { jsonText } from '../../../api/meta/json-text.ts';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import { CachedObject } from '../../storage/watch-cache/cached-object.ts';
import type { Held } from '../rest-storage.ts';

/** An object that is answered and never kept. */
export const answerOf = (object: KubernetesObject): Held =>
  new CachedObject('', Buffer.from(jsonText(object)), 0, object);

/** What a creation answers that leaves nothing behind to show. */
export const createdStatus = (): KubernetesObject => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Success',
  code: 201,
});
