import { STRING } from '../types/type.ts';
import { type Library, global } from './declare.ts';

/** For paths of JSON patches; Kubernetes has it in expressions of mutating policies only. */
export const JSON_PATCH: Library = {
  name: 'kubernetes.jsonpatch',
  overloads: [
    global(['jsonpatch.escapeKey', 'string_jsonpatch_escapeKey_string', [STRING], STRING], (key: string) =>
      key.replaceAll('~', '~0').replaceAll('/', '~1'),
    ),
  ],
};
