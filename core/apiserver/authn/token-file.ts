import { createHash } from 'node:crypto';
import { ReasonError } from '../../base/errors.ts';
import type { TokenAuthenticator } from './bearer-token.ts';
import { userInfo, type UserInfo } from '../server/user.ts';

const TEXT_LENGTH_MAX = 16 * 1024 * 1024;
const COLUMNS_MIN = 3;

/** RFC 4180, as Go's reader takes it: quoted fields, blank lines skipped. */
const readCsv = (text: string): string[][] => {
  const records: string[][] = [];
  let record: string[] = [];
  let field = '';
  let isQuoted = false;
  const endRecord = (): void => {
    record.push(field);
    if (record.length > 1 || record[0] !== '') records.push(record);
    record = [];
    field = '';
  };
  const source = text.replaceAll('\r\n', '\n');
  for (let at = 0; at < source.length; at += 1) {
    const character = source[at]!;
    if (isQuoted) {
      if (character !== '"') field += character;
      else if (source[at + 1] === '"') {
        field += '"';
        at += 1;
      } else isQuoted = false;
    } else if (character === '"' && field === '') isQuoted = true;
    else if (character === ',') {
      record.push(field);
      field = '';
    } else if (character === '\n') endRecord();
    else field += character;
  }
  if (isQuoted) throw new ReasonError('BadConfiguration', 'a quoted field has no end');
  endRecord();
  return records;
};

/** Looked up by digest, so that the time a look-up takes tells nothing about a token. */
const digest = (token: string): string => createHash('sha256').update(token).digest('base64');

/** Upstream's --token-auth-file: `token,user name,user uid,"group1,group2"` a line. Throws `BadConfiguration`. */
export const tokenFileAuthenticator = (text: string): TokenAuthenticator => {
  if (text.length > TEXT_LENGTH_MAX)
    throw new ReasonError('BadConfiguration', `is longer than ${TEXT_LENGTH_MAX} characters`);
  const users = new Map<string, UserInfo>();
  for (const record of readCsv(text)) {
    if (record.length < COLUMNS_MIN)
      throw new ReasonError(
        'BadConfiguration',
        `must have at least 3 columns (token, user name, user uid), found ${record.length}`,
      );
    const [token, name, uid, groups] = record as [string, string, string, string?];
    if (token === '') continue;
    users.set(digest(token), userInfo(name, groups === undefined ? [] : groups.split(','), { uid }));
  }
  return (token) => users.get(digest(token));
};
