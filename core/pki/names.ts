import * as der from './der.ts';
import { expectTag, readAll, readOid, readText, TAG, type DerValue } from './der-reader.ts';

/** Who a certificate is for. Kubernetes reads the common name as the user and organizations as groups. */
export interface Subject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

const OID_COMMON_NAME = '2.5.4.3';
const OID_ORGANIZATION = '2.5.4.10';

const attribute = (type: string, value: string): der.Der =>
  der.set(der.sequence(der.oid(type), der.text(value)));

/** Organizations come before the common name, in the order Go writes them. */
export const encodeName = ({ commonName, organizations = [] }: Subject): der.Der =>
  der.sequence(
    ...organizations.map((organization) => attribute(OID_ORGANIZATION, organization)),
    attribute(OID_COMMON_NAME, commonName),
  );

export const decodeName = (name: DerValue): Required<Subject> => {
  const organizations: string[] = [];
  let commonName = '';
  for (const relative of readAll(expectTag(name, TAG.sequence).content))
    for (const pair of readAll(expectTag(relative, TAG.set).content)) {
      const [type, value] = readAll(expectTag(pair, TAG.sequence).content);
      const oid = readOid(type);
      if (!value) continue;
      if (oid === OID_COMMON_NAME) commonName = readText(value);
      if (oid === OID_ORGANIZATION) organizations.push(readText(value));
    }
  return { commonName, organizations };
};
