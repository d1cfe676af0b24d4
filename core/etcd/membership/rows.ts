import type { MemberId } from '../../raft/types.ts';
import { idText, parseMemberId } from './member-id.ts';
import { MembershipError, type Member, type MembershipRow } from './types.ts';

export const CLUSTER_VERSION_KEY = 'clusterVersion';
export const DOWNGRADE_KEY = 'downgrade';
const REMOVED = Buffer.from('removed');

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

/** Keys of `members` and `members_removed`: the id in hex. */
export const memberKey = (id: MemberId): Uint8Array => encoder.encode(idText(id));
export const removedValue = (): Uint8Array => REMOVED;
export const textBytes = (text: string): Uint8Array => encoder.encode(text);

/** JSON in the order and with the omissions of etcd's Member. */
export const encodeMember = ({ id, name, peerURLs, clientURLs, isLearner }: Member): Uint8Array =>
  encoder.encode(
    JSON.stringify({
      id,
      peerURLs,
      ...(isLearner ? { isLearner } : {}),
      ...(name === '' ? {} : { name }),
      ...(clientURLs.length === 0 ? {} : { clientURLs }),
    }),
  );

const malformed = (what: string, cause?: unknown): MembershipError =>
  new MembershipError('Malformed', `the membership on disk cannot be read: ${what}`, { cause });

export const decodeText = (bytes: Uint8Array): string => {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    throw malformed('it is no UTF-8', error);
  }
};

export const decodeRemoved = ({ key }: MembershipRow): MemberId => parseMemberId(decodeText(key));

/** The key is what counts for the id: as a JSON number a longer one would be rounded silently. */
export const decodeMember = ({ key, value }: MembershipRow): Member => {
  const id = parseMemberId(decodeText(key));
  return { ...memberFields(parseJson(decodeText(value))), id };
};

export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw malformed('it is no JSON', error);
  }
};

/** The fields of a member but its id, whatever else the value holds. */
export const memberFields = (value: unknown): Omit<Member, 'id'> => {
  if (typeof value !== 'object' || value === null) throw malformed('a member is no object');
  const { name = '', peerURLs, clientURLs, isLearner = false } = value as Record<string, unknown>;
  if (typeof name !== 'string' || typeof isLearner !== 'boolean')
    throw malformed('a member has a wrong field');
  return { name, peerURLs: urls(peerURLs), clientURLs: urls(clientURLs), isLearner };
};

/** Go writes an empty list as null. */
const urls = (value: unknown): string[] => {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every((url) => typeof url === 'string')) {
    throw malformed('URLs of a member are no list of strings');
  }
  return value;
};
