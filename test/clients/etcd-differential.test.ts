import { mkdtempSync, rmSync } from 'node:fs';
import { connect, constants, type ClientHttp2Session } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { messageOf } from '../../core/base/errors.ts';
import { seededRandom } from '../../core/base/random.ts';
import { makeCertificates } from '../support/etcd-certificates.ts';
import { EtcdCluster, hasRealEtcd } from '../support/etcd-cluster.ts';
import { grpcFrame, isHarmful, mutatedMessage, SAMPLES, type Sample } from '../support/etcd-fuzz.ts';

const [OURS_OCTET, REAL_OCTET] = [68, 69];
const MESSAGES = 3000;
const CALL_LIMIT_MS = 30_000;
/** A busy machine may keep either side from answering in time: then it is asked again. */
const ASKED_MAX = 3;
const TEST_LIMIT_MS = 600_000;
const NO_ANSWER = 'no answer';
/** Questions that a real etcd left open, of which nothing can be said. */
const OPEN_MAX = 30;
const INTERNAL = '13 ';
/** Fixed, so that a run tells about the change at hand; another one looks elsewhere. */
const seed = Number(process.env['PILOTHOUSE_SEED'] ?? 1);

/** Methods that an etcd 3.4 does not have or reads less of, and those whose answer is a stream without an end. */
const APART = /\/(Downgrade|AuthStatus|UserAdd|Snapshot|Defragment|Watch|Check|MemberList)$/;

const SORT_ORDER_MAX = 2;
const SORT_TARGET_MAX = 4;
/** An etcd 3.4 panics over sort options that do not exist; since 3.5 they are refused. */
const isFatal = (read: unknown): boolean => {
  const { sortOrder = 0, sortTarget = 0 } = read as { sortOrder?: number; sortTarget?: number };
  return sortOrder >>> 0 > SORT_ORDER_MAX || sortTarget >>> 0 > SORT_TARGET_MAX;
};

/**
 * What etcd's decoder lets pass and ours does not: text that is not UTF-8, groups that do not match, tags that
 * overflow. Sent, they would set the two stores apart.
 */
const isApart = ({ decode }: Sample, message: Buffer): boolean => {
  try {
    return isFatal(decode?.(message) ?? {});
  } catch (error) {
    return /UTF-8|group|illegal tag/.test(messageOf(error));
  }
};

const call = (session: ClientHttp2Session, path: string, message: Buffer): Promise<string> =>
  new Promise((resolve) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    const limit = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), CALL_LIMIT_MS);
    let status = NO_ANSWER;
    const note = (headers: Record<string, unknown>): void => {
      if (headers['grpc-status'] === undefined) return;
      status = `${String(headers['grpc-status'])} ${decodeURIComponent(String(headers['grpc-message'] ?? ''))}`;
    };
    stream.on('response', note);
    stream.on('trailers', note);
    stream.on('error', () => undefined); // told by the missing status
    stream.on('data', () => undefined);
    stream.once('close', () => {
      clearTimeout(limit);
      resolve(status);
    });
    stream.end(grpcFrame(message));
  });

const answerTo = async (session: ClientHttp2Session, path: string, message: Buffer): Promise<string> => {
  for (let asked = 1; ; asked += 1) {
    const status = await call(session, path, message);
    if (status !== NO_ANSWER || asked >= ASKED_MAX) return status;
  }
};

/** How a message cannot be read is said in other words; that it cannot is said by the code. */
const comparable = (status: string): string => (status.startsWith(INTERNAL) ? INTERNAL : status);

/** The hash at the very revision of a compaction is answered since etcd 3.5. */
const isNewer = (path: string, ours: string, real: string): boolean =>
  path.endsWith('/HashKV') &&
  ours === '0 ' &&
  real === '11 etcdserver: mvcc: required revision has been compacted';

describe.skipIf(!hasRealEtcd())('requests that make little sense', () => {
  let directory: string;
  const clusters: EtcdCluster[] = [];
  const sessions: ClientHttp2Session[] = [];

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'pilothouse-differential-'));
    for (const [flavour, octet] of [
      ['pilothouse', OURS_OCTET],
      ['etcd', REAL_OCTET],
    ] as const) {
      const certificates = makeCertificates(join(directory, `${flavour}-pki`), octet);
      const cluster = new EtcdCluster({
        flavour,
        size: 1,
        octet,
        directory: join(directory, flavour),
        certificates,
      });
      clusters.push(cluster);
      cluster.start();
      await cluster.healthy();
      sessions.push(connect(cluster.endpoints[0]!, certificates.client));
    }
  });

  afterAll(async () => {
    for (const session of sessions) session.destroy();
    await Promise.all(clusters.map((cluster) => cluster.stop()));
    rmSync(directory, { recursive: true, force: true });
  });

  test(
    `are answered with the code and text of a real etcd (PILOTHOUSE_SEED=${seed})`,
    async () => {
      const [ours, real] = sessions as [ClientHttp2Session, ClientHttp2Session];
      const random = seededRandom(seed);
      const samples = SAMPLES.filter(({ path }) => !APART.test(path));
      const differences: string[] = [];
      const codes = new Map<string, number>();
      let open = 0;
      for (let sent = 0; sent < MESSAGES;) {
        const sample = samples[random.below(samples.length)]!;
        const message = mutatedMessage(sample.message, random);
        const { path } = sample;
        if (isHarmful({ path, message }, Buffer.from('kept')) || isApart(sample, message)) continue;
        sent += 1;
        const [our, their] = await Promise.all([
          answerTo(ours, path, message),
          answerTo(real, path, message),
        ]);
        if (their === NO_ANSWER && our !== NO_ANSWER) {
          open += 1;
          continue;
        }
        const code = their.split(' ')[0]!;
        codes.set(code, (codes.get(code) ?? 0) + 1);
        if (our === NO_ANSWER || (comparable(our) !== comparable(their) && !isNewer(path, our, their)))
          differences.push(`${path} ${message.toString('hex')}: ${our} instead of ${their}`);
      }
      expect(differences).toEqual([]);
      expect(open).toBeLessThan(OPEN_MAX);
      // Understood, not found, out of range, unreadable: all kinds were among them.
      for (const code of ['0', '3', '5', '11', '13']) expect(codes.get(code) ?? 0).toBeGreaterThan(10);
    },
    TEST_LIMIT_MS,
  );
});
