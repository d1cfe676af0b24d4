import { obj, objs, str, strs } from '../../../api/validation/read.ts';
import type { Draft, Strategy } from '../generic/strategy.ts';

/** Every version that objects may be stored in is remembered until somebody has rewritten them all. */
const rememberStoredVersion = (draft: Draft): void => {
  const storage = objs(obj(draft, 'spec'), 'versions').find((version) => version['storage'] === true);
  if (storage === undefined) return;
  const status = obj(draft, 'status');
  const known = strs(status, 'storedVersions');
  const name = str(storage, 'name');
  if (!known.includes(name)) draft['status'] = { ...status, storedVersions: [...known, name] };
};

export const definitionStrategy: Strategy = {
  prepareForCreate: rememberStoredVersion,
  prepareForUpdate: rememberStoredVersion,
};
