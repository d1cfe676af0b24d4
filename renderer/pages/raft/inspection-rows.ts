import type { EtcdAuth, EtcdHashes, EtcdLocks } from '../../../core/contract/index.ts';
import { formatCount } from '../../locales/format.ts';
import { t, tell } from '../../locales/i18n.ts';

const HASH_HEX_DIGITS = 8;
const NONE = '–';

/** A small table: a column's head, and per row a text for each column. */
export interface Rows {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export const hashRows = ({ members }: EtcdHashes): Rows => ({
  heads: [t('raft.inspect.member'), t('raft.inspect.hash'), t('raft.inspect.compacted')],
  rows: members.map(({ id, name, hash, compactRevision, problem }) => [
    name || id,
    hash === undefined ? (problem ? tell(problem) : NONE) : hash.toString(16).padStart(HASH_HEX_DIGITS, '0'),
    // -1 where nothing was ever compacted.
    compactRevision === undefined || compactRevision < 0 ? NONE : formatCount(compactRevision),
  ]),
});

export const lockRows = (lines: EtcdLocks): Rows => ({
  heads: [
    t('raft.inspect.name'),
    t('raft.inspect.state'),
    t('raft.inspect.lease'),
    t('raft.inspect.ttl'),
    t('raft.inspect.value'),
  ],
  rows: lines.flatMap(({ name, kind, claims }) =>
    claims.map(({ lease, ttlSeconds, value }, place) => [
      place === 0 ? name : '',
      t(place > 0 ? 'raft.inspect.waits' : kind === 'lock' ? 'raft.inspect.holds' : 'raft.inspect.leads'),
      lease,
      t('raft.inspect.seconds', { count: ttlSeconds }),
      value === '' ? NONE : value,
    ]),
  ),
});

const rangeText = (key: string, rangeEnd: string): string => {
  if (rangeEnd === '') return key;
  return rangeEnd === '\0' ? t('raft.inspect.from', { key }) : `[${key}, ${rangeEnd})`;
};

export const userRows = ({ users }: EtcdAuth): Rows => ({
  heads: [t('raft.inspect.user'), t('raft.inspect.roles')],
  rows: users.map(({ name, roles }) => [name, roles.join(', ') || NONE]),
});

export const roleRows = ({ roles }: EtcdAuth): Rows => ({
  heads: [t('raft.inspect.role'), t('raft.inspect.permission'), t('raft.inspect.keys')],
  rows: roles.flatMap(({ name, permissions }) =>
    permissions.length === 0
      ? [[name, NONE, NONE]]
      : permissions.map(({ type, key, rangeEnd }, place) => [
          place === 0 ? name : '',
          t(`raft.inspect.${type}`),
          rangeText(key, rangeEnd),
        ]),
  ),
});
