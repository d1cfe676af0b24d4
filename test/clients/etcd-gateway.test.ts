import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificates } from '../support/etcd-certificates.ts';
import { EtcdCluster, hasRealEtcd } from '../support/etcd-cluster.ts';
import { GATEWAY_STEPS, type GatewayStep } from './etcd-gateway-steps.ts';

const OURS_OCTET = 51;
const REAL_OCTET = 53;
const PLAIN_PORT = 2383;
const SCRIPT_LIMIT_MS = 300_000;
/** Catches a stream that says less than its step expects. */
const CURL_LIMIT_SECONDS = 60;
const CURL = '/usr/bin/curl';

interface Answer {
  readonly lines: readonly string[];
  /** Of curl: status and content type; streams that are cut do not tell. */
  readonly head: string;
}

/** One side: sends the steps, and gives what differs by chance names that do not. */
class Side {
  readonly #cluster: EtcdCluster;
  readonly #host: string;
  readonly #captured = new Map<string, string>();
  readonly #names = new Map<string, string>();

  constructor(cluster: EtcdCluster, octet: number) {
    this.#cluster = cluster;
    this.#host = `127.${octet}.0.1`;
  }

  async run(step: GatewayStep): Promise<Answer> {
    const raw = await this.#curl(step);
    for (const [name, pattern] of Object.entries(step.capture ?? {}))
      this.#captured.set(name, pattern.exec(raw.lines.join('\n'))?.[1] ?? '');
    return { ...raw, lines: raw.lines.map((line) => this.#normalised(line)) };
  }

  #curl({ path, body, scheme, user, headers = [], lines }: GatewayStep): Promise<Answer> {
    const { certificates } = this.#cluster.options;
    const isStream = lines !== undefined;
    const child = spawn(
      CURL,
      [
        ...['-sS', '-N', '--max-time', String(CURL_LIMIT_SECONDS)],
        ...(isStream ? [] : ['-w', '\n%{http_code} %{content_type}\n']),
        ...(body === undefined ? [] : ['--data-binary', this.#filled(body)]),
        ...headers.flatMap((header) => ['-H', header]),
        ...(user === undefined ? [] : ['-H', `Authorization: ${this.#captured.get(user)}`]),
        ...(scheme === 'https' ? ['--cacert', certificates.caFile] : []),
        ...(scheme === 'https' ? ['--cert', certificates.clientCertFile] : []),
        ...(scheme === 'https' ? ['--key', certificates.clientKeyFile] : []),
        `${scheme ?? 'http'}://${this.#host}:${scheme === 'https' ? 2379 : PLAIN_PORT}${path}`,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    return new Promise((resolve) => {
      const said: string[] = [];
      child.stderr.on('data', (chunk: Buffer) => said.push(chunk.toString()));
      const reader = createInterface({ input: child.stdout });
      reader.on('line', (line) => {
        said.push(line);
        if (said.length === lines) child.kill('SIGKILL');
      });
      reader.once('close', () =>
        resolve(isStream ? { lines: said, head: '' } : { lines: said.slice(0, -1), head: said.at(-1) ?? '' }),
      );
    });
  }

  #filled(text: string): string {
    return text.replace(/<(\w+)>/g, (whole, name: string) => this.#captured.get(name) ?? whole);
  }

  #normalised(line: string): string {
    return line
      .replaceAll(this.#host, '<host>')
      .replace(
        /"(cluster_id|member_id|memberID|ID|lease)":"(\d{6,})"/g,
        (_whole, name: string, id: string) => `"${name}":"${this.#nameOf(id)}"`,
      )
      .replace(/"raft_term":"\d+"/g, '"raft_term":"<term>"')
      .replace(/"token":"[^"]*"/, '"token":"<token>"')
      .replace(/"TTL":"(?:[6-9]\d\d|1000)"/, '"TTL":"<rest>"');
  }

  #nameOf(id: string): string {
    const known = this.#names.get(id) ?? `<id ${this.#names.size + 1}>`;
    this.#names.set(id, known);
    return known;
  }
}

const V1_ERROR = /^\{"error":"(?:[^"\\]|\\.)*","message":("(?:[^"\\]|\\.)*"),"code":(\d+)\}$/;
const V1_STREAM_ERROR = /^\{"error":\{"grpc_code":(\d+),"http_code":\d+,"message":("(?:[^"\\]|\\.)*").*\}\}$/;

/**
 * etcd 3.4 has the first grpc-gateway: its errors had another shape, and one code another status. It also answers
 * alarms without a header, and health as text.
 */
const asOf36 = ({ path }: GatewayStep, { lines, head }: Answer): Answer => ({
  lines: lines.map((line) =>
    line
      .replace(V1_ERROR, '{"code":$2,"message":$1}')
      .replace(V1_STREAM_ERROR, '{"error":{"code":$1,"message":$2}}')
      .replace('{"health":"true"}', '{"health":"true","reason":""}'),
  ),
  head: path === '/health' && head.startsWith('200') ? '200 application/json' : head.replace(/^412 /, '400 '),
});

const withoutHeader = ({ lines, head }: Answer): Answer => ({
  head,
  lines: lines.map((line) => line.replace(/"header":\{[^}]*\},?/, '')),
});

describe.skipIf(!hasRealEtcd())('the JSON gateway of our member and of a real etcd, by curl', () => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-gateway-'));
  const clusters: EtcdCluster[] = [];
  const answers: { readonly ours: Answer; readonly real: Answer }[] = [];
  let ourSide: Side;

  beforeAll(async () => {
    const make = (flavour: 'pilothouse' | 'etcd', octet: number): EtcdCluster => {
      const urls = `https://127.${octet}.0.1:2379,http://127.${octet}.0.1:${PLAIN_PORT}`;
      const cluster = new EtcdCluster({
        flavour,
        size: 1,
        octet,
        directory: join(directory, flavour),
        certificates: makeCertificates(join(directory, `${flavour}-pki`), octet),
        extraFlags: ['--bcrypt-cost=4', `--listen-client-urls=${urls}`],
      });
      cluster.start();
      clusters.push(cluster);
      return cluster;
    };
    const [ours, real] = [make('pilothouse', OURS_OCTET), make('etcd', REAL_OCTET)];
    await Promise.all([ours.healthy(), real.healthy()]);
    ourSide = new Side(ours, OURS_OCTET);
    const realSide = new Side(real, REAL_OCTET);
    for (const step of GATEWAY_STEPS) {
      const [our, their] = await Promise.all([ourSide.run(step), realSide.run(step)]);
      answers.push({ ours: our, real: their });
    }
  }, SCRIPT_LIMIT_MS);

  afterAll(async () => {
    await Promise.all(clusters.map((cluster) => cluster.stop()));
    rmSync(directory, { recursive: true, force: true });
  });

  test.each(
    GATEWAY_STEPS.map(({ path, body = '', user = '', scheme = '' }, index) => ({
      title: [scheme, user, path, body].filter((part) => part !== '').join(' '),
      index,
    })),
  )('$index: $title', ({ index }) => {
    const { ours, real } = answers[index]!;
    const step = GATEWAY_STEPS[index]!;
    expect(step.path.endsWith('/alarm') ? withoutHeader(ours) : ours).toEqual(asOf36(step, real));
  });

  test('responses that etcd 3.6 has and 3.4 has not', async () => {
    const answerTo = async (step: GatewayStep): Promise<string> => {
      const { lines, head } = await ourSide.run(step);
      return `${head} ${lines.join('\n')}`;
    };
    expect(await answerTo({ path: '/v3/nope', body: '{}' })).toBe(
      '404 application/json {"code":5,"message":"Not Found"}',
    );
    expect(await answerTo({ path: '/v3/kv/range' })).toBe(
      '501 application/json {"code":12,"message":"Method Not Allowed"}',
    );
    expect(await answerTo({ path: '/v3/kv/range', body: '{"limit":"x"}' })).toBe(
      '400 application/json {"code":3,"message":"proto: (line 1:10): invalid value for int64 field limit: \\"x\\""}',
    );
    expect(await answerTo({ path: '/v3/auth/status', body: '{}' })).toMatch(/"authRevision":"\d+"/);
    expect(await answerTo({ path: '/v3/maintenance/status', body: '{}' })).toMatch(
      /"version":"3\.6\.\d+","dbSize":"\d+","leader":"\d+",.*"storageVersion":"3\.6\.0"/,
    );
    expect(await answerTo({ path: '/debug/vars' })).toMatch(
      /^200 application\/json; charset=utf-8 \{\n"cmdline": \[.*\n"raft.status": \{"id":"\w+","term":\d+.*"raftState":"StateLeader"/s,
    );
  });

  test('a page of an origin that is not allowed cannot write', async () => {
    const put = { path: '/v3/kv/put', body: '{"key":"cGFnZQ==","value":"MQ=="}' };
    const { head } = await ourSide.run({ ...put, headers: ['Origin: http://evil.example'] });
    expect(head).toMatch(/^403 /);
    const { lines } = await ourSide.run({ path: '/v3/kv/range', body: '{"key":"cGFnZQ=="}' });
    expect(lines.join('')).not.toContain('kvs');
  });
});
