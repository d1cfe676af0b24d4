import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';

const schema = v.object({ kind: v.picklist(['add', 'remove']), host: v.string() });

/** A host that is coming or going. Written before the first step and deleted after the last. */
export type MembershipChange = v.InferOutput<typeof schema>;

const journalFile = (data: string): string => join(data, 'membership.json');

export const readMembershipChange = async (data: string): Promise<MembershipChange | undefined> => {
  const path = journalFile(data);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw cause;
  }
  try {
    return v.parse(schema, JSON.parse(text));
  } catch (cause) {
    throw new ReasonError(
      'BadConfiguration',
      `${path} is damaged: ${messageOf(cause)}; delete it, then compare pilothouse member list with cluster.yaml`,
      { cause },
    );
  }
};

export const beginMembershipChange = (data: string, change: MembershipChange): Promise<void> =>
  writeFileAtomically(journalFile(data), `${JSON.stringify(change)}\n`);

export const endMembershipChange = (data: string): Promise<void> => rm(journalFile(data), { force: true });
