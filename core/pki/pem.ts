import { PkiError } from './errors.ts';

const PEM_BYTES_MAX = 1024 * 1024;
const LINE_CHARACTERS = 64;

export type PemLabel = 'CERTIFICATE' | 'CERTIFICATE REQUEST';

export const toPem = (label: PemLabel, der: Uint8Array): string => {
  const body =
    Buffer.from(der)
      .toString('base64')
      .match(new RegExp(`.{1,${LINE_CHARACTERS}}`, 'g')) ?? [];
  return [`-----BEGIN ${label}-----`, ...body, `-----END ${label}-----`, ''].join('\n');
};

/** Every block of that label, in order; other blocks and text between blocks are skipped. */
export const fromPem = (label: PemLabel, pem: string): Buffer[] => {
  if (pem.length > PEM_BYTES_MAX) throw new PkiError('Malformed', `PEM data exceeds ${PEM_BYTES_MAX} bytes`);
  const block = new RegExp(`-----BEGIN ${label}-----([A-Za-z0-9+/=\\s]+)-----END ${label}-----`, 'g');
  return [...pem.matchAll(block)].map(([, body = '']) => Buffer.from(body, 'base64'));
};

export const oneFromPem = (label: PemLabel, pem: string): Buffer => {
  const [der] = fromPem(label, pem);
  if (!der) throw new PkiError('Malformed', `no PEM block of type ${label} was found`);
  return der;
};
