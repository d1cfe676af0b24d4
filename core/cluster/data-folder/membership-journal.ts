import { join } from 'node:path';
import * as v from 'valibot';
import { say } from '../../contract/index.ts';
import { stateFile } from '../data-folder/state-file.ts';

const schema = v.object({ kind: v.picklist(['add', 'remove']), host: v.string() });

/** A host that is coming or going. Written before the first step and deleted after the last. */
export type MembershipChange = v.InferOutput<typeof schema>;

const journal = stateFile({
  schema,
  path: (data) => join(data, 'membership.json'),
  remedy: say('directory.damaged.journal'),
});

export const readMembershipChange = (data: string): Promise<MembershipChange | undefined> =>
  journal.read(data);
export const beginMembershipChange = (data: string, change: MembershipChange): Promise<void> =>
  journal.write(data, change);
export const endMembershipChange = (data: string): Promise<void> => journal.forget(data);
