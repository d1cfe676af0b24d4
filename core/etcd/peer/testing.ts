import { X509Certificate } from 'node:crypto';
import { systemClock } from '../../base/node/clock.ts';
import type { Log, LogFields } from '../../base/log.ts';
import { seededRandom } from '../../base/random.ts';
import type { Message } from '../../raft/messages.ts';
import {
  alternativeNames,
  createAuthority,
  issueLeaf,
  openAuthority,
  type Authority,
} from '../../pki/index.ts';
import * as der from '../../pki/der.ts';
import { signatureAlgorithm, signBytes } from '../../pki/keys.ts';
import type { PeerTls } from './settings.ts';
import { TlsPeerTransport, type TlsPeerTransportOptions } from './tls-transport.ts';

export interface LogLine {
  readonly message: string;
  readonly fields: LogFields;
}

/** Keeps what is logged, for assertions on what an operator would read. */
export const recordingLog = (): { log: Log; lines: LogLine[] } => {
  const lines: LogLine[] = [];
  const log: Log = {
    write: (_level, message, fields = {}) => void lines.push({ message, fields }),
    with: () => log,
  };
  return { log, lines };
};

export const newAuthority = (name: string): { authority: Authority; ca: string } => {
  const root = createAuthority({ commonName: name, clock: systemClock });
  return { authority: openAuthority(root), ca: root.certificatePem };
};

export const peerTls = (
  authority: Authority,
  ca: string,
  commonName = 'peer',
  names: readonly string[] = ['127.0.0.1', 'localhost'],
): PeerTls => {
  const leaf = issueLeaf(authority, {
    subject: { commonName },
    usages: ['server', 'client'],
    alternativeNames: alternativeNames(names),
    clock: systemClock,
  });
  return { cert: leaf.certificatePem, key: leaf.privateKeyPem, ca, clientCertAuth: true };
};

const HOUR_MS = 3_600_000;

/** A current list of the authority's that names these certificates. */
export const revocationList = (authority: Authority, ...revoked: readonly string[]): string => {
  const algorithm = signatureAlgorithm(authority.privateKey);
  const serials = revoked.map((pem) => Buffer.from(new X509Certificate(pem).serialNumber, 'hex'));
  const at = (offsetMs: number): der.Der => der.time(Date.now() + offsetMs);
  const list = der.sequence(
    der.smallInteger(1),
    algorithm,
    der.encoded(authority.certificate.subjectDer),
    at(-HOUR_MS),
    at(HOUR_MS),
    der.sequence(...serials.map((serial) => der.sequence(der.unsignedInteger(serial), at(-HOUR_MS)))),
  );
  const signature = der.bitString(signBytes(der.encode(list), authority.privateKey));
  const bytes = der.encode(der.sequence(list, algorithm, signature));
  return `-----BEGIN X509 CRL-----\n${bytes.toString('base64')}\n-----END X509 CRL-----\n`;
};

export interface TestMember {
  readonly id: number;
  readonly transport: TlsPeerTransport;
  readonly url: string;
  readonly received: Message[];
  readonly unreachable: number[];
  readonly refused: number[];
  readonly lines: LogLine[];
}

/** A started transport on a free port of loopback. */
export const startMember = async (
  id: number,
  options: Partial<TlsPeerTransportOptions> = {},
): Promise<TestMember> => {
  const { log, lines } = recordingLog();
  const scheme = options.tls === undefined ? 'http' : 'https';
  const transport = new TlsPeerTransport({
    id,
    clusterId: 0xc1n,
    listenUrls: [`${scheme}://127.0.0.1:0`],
    advertiseUrls: [],
    electionTimeoutMs: 400,
    clock: systemClock,
    random: seededRandom(id),
    log,
    ...options,
  });
  const received: Message[] = [];
  const unreachable: number[] = [];
  const refused: number[] = [];
  transport.onMessage((message) => received.push(message));
  transport.onUnreachable((peer) => unreachable.push(peer));
  transport.onRefused((peer) => refused.push(peer));
  await transport.start();
  return { id, transport, url: transport.listening[0]!, received, unreachable, refused, lines };
};

export const heartbeat = (from: number, to: number, commit = 1): Message => ({
  kind: 'heartbeat',
  from,
  to,
  term: 1,
  commit,
  readRound: 0,
});
