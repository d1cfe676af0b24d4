/** Numbers of the IANA registry, as far as a cluster's DNS has something to say about them. */
export const TYPE = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  MX: 15,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  OPT: 41,
  IXFR: 251,
  AXFR: 252,
  ANY: 255,
} as const;

export const CLASS_IN = 1;

export const RCODE = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  BADVERS: 16,
} as const;

export const OPCODE_QUERY = 0;

const nameOf = (table: Readonly<Record<string, number>>, number: number): string | undefined =>
  Object.entries(table).find(([, value]) => value === number)?.[0];

/** `A`; `TYPE65` for those without a name here (RFC 3597). */
export const typeText = (type: number): string => nameOf(TYPE, type) ?? `TYPE${type}`;
export const rcodeText = (rcode: number): string => nameOf(RCODE, rcode) ?? `RCODE${rcode}`;

/**
 * Names are in presentation format and absolute: `web.default.svc.cluster.local.`; the root is `.`. A dot or a backslash
 * inside a label is escaped by a backslash, bytes that are not printable are `\DDD`.
 */
export interface Question {
  readonly name: string;
  readonly type: number;
  readonly class: number;
}

export type RecordData =
  /** A and AAAA. */
  | { readonly kind: 'address'; readonly address: string }
  /** CNAME, NS and PTR. */
  | { readonly kind: 'name'; readonly target: string }
  | { readonly kind: 'mx'; readonly preference: number; readonly target: string }
  | {
      readonly kind: 'srv';
      readonly priority: number;
      readonly weight: number;
      readonly port: number;
      readonly target: string;
    }
  | {
      readonly kind: 'soa';
      readonly primary: string;
      readonly mailbox: string;
      readonly serial: number;
      readonly refreshSeconds: number;
      readonly retrySeconds: number;
      readonly expireSeconds: number;
      readonly minimumSeconds: number;
    }
  /** Each character of a text is one byte. */
  | { readonly kind: 'txt'; readonly texts: readonly string[] }
  /** Any other type, as it is (RFC 3597). */
  | { readonly kind: 'raw'; readonly bytes: Uint8Array };

export interface ResourceRecord {
  readonly name: string;
  readonly type: number;
  readonly class: number;
  readonly ttlSeconds: number;
  readonly data: RecordData;
}

/** EDNS(0), RFC 6891: the OPT record of a message. */
export interface Edns {
  readonly udpBytes: number;
  readonly version: number;
  readonly isDnssecOk: boolean;
  readonly options: readonly { readonly code: number; readonly bytes: Uint8Array }[];
}

export interface Message {
  readonly id: number;
  readonly isResponse: boolean;
  readonly opcode: number;
  readonly isAuthoritative: boolean;
  readonly isTruncated: boolean;
  readonly isRecursionDesired: boolean;
  readonly isRecursionAvailable: boolean;
  readonly isAuthenticData: boolean;
  readonly isCheckingDisabled: boolean;
  /** Twelve bits with EDNS, four without. */
  readonly rcode: number;
  readonly questions: readonly Question[];
  readonly answers: readonly ResourceRecord[];
  readonly authorities: readonly ResourceRecord[];
  /** Without the OPT record. */
  readonly additionals: readonly ResourceRecord[];
  readonly edns: Edns | undefined;
}

export const MESSAGE_BYTES_MAX = 65_535;
/** RFC 1035: over UDP, unless EDNS says otherwise. */
export const UDP_BYTES_DEFAULT = 512;

const EMPTY: Message = {
  id: 0,
  isResponse: false,
  opcode: OPCODE_QUERY,
  isAuthoritative: false,
  isTruncated: false,
  isRecursionDesired: false,
  isRecursionAvailable: false,
  isAuthenticData: false,
  isCheckingDisabled: false,
  rcode: RCODE.NOERROR,
  questions: [],
  answers: [],
  authorities: [],
  additionals: [],
  edns: undefined,
};

export const message = (parts: Partial<Message>): Message => ({ ...EMPTY, ...parts });
