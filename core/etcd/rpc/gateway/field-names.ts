import type { Field, MessageType } from '../../proto/wire/index.ts';

export type AnyMessage = Pick<MessageType<unknown, never>, 'name' | 'fields'>;

/** Most fields are snake_case in etcd's .proto files. These are not. */
const SPELLED_AS_HERE = new Set([
  'ID',
  'TTL',
  'authRevision',
  'clientURLs',
  'grantedTTL',
  'hashedPassword',
  'isLearner',
  'keyPermission',
  'memberID',
  'peerURLs',
  'permType',
  'targetID',
  'targetVersion',
]);
const SPELLED_AS_HERE_IN = new Set(['etcdserverpb.StatusResponse']);
const REMAINING_TTL = 'remainingTTL';

/** A field as its .proto spells it, which is how etcd's gateway writes it. */
export const protoNameOf = (message: AnyMessage, key: string): string => {
  if (key === REMAINING_TTL) return 'remaining_TTL';
  if (SPELLED_AS_HERE.has(key) || SPELLED_AS_HERE_IN.has(message.name)) return key;
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
};

export interface NamedField {
  /** In decoded messages, and as JSON spells it in camel case. */
  readonly key: string;
  readonly protoName: string;
  readonly field: Field;
}

interface MessageNames {
  readonly all: readonly NamedField[];
  /** By both spellings: readers take either. */
  readonly byName: ReadonlyMap<string, NamedField>;
}
const known = new WeakMap<AnyMessage['fields'], MessageNames>();

export const namesOf = (message: AnyMessage): MessageNames => {
  let names = known.get(message.fields);
  if (names === undefined) {
    const all = Object.entries(message.fields).map(([key, field]) => ({
      key,
      protoName: protoNameOf(message, key),
      field,
    }));
    names = {
      all,
      byName: new Map(
        all.flatMap((named) => [[named.key, named] as const, [named.protoName, named] as const]),
      ),
    };
    known.set(message.fields, names);
  }
  return names;
};
