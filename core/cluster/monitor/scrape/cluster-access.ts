import http from 'node:http';
import https from 'node:https';
import { readFile, stat } from 'node:fs/promises';
import type { SecureContextOptions } from 'node:tls';
import type { Disposable } from '../../../base/disposable.ts';
import { ReasonError } from '../../../base/errors.ts';
import { certificatePath, readKubeconfig } from '../../../pki/index.ts';

export const ANSWER_TIMEOUT_MS = 4_000;
const ANSWER_BYTES_MAX = 32 * 1024 * 1024;

/**
 * `etcd`: a member that is asked with the certificates of etcd's clients.
 * `cluster`: the server must show a certificate of the cluster's authority. `any`: managers make their own at every
 * start, as upstream's do; they are on loopback, and what is sent proves who asks without giving it away.
 */
export type Trust = 'cluster' | 'any' | 'etcd';

export interface Ask {
  readonly url: string;
  readonly trust: Trust;
  /** Posted as JSON. */
  readonly body?: string;
  readonly timeoutMs?: number;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Requests to the servers of a cluster of ours, each by its own address. */
export interface ClusterAccess extends Disposable {
  ask(request: Ask): Promise<Answer>;
}

export interface ClusterAccessOptions {
  readonly directory: string;
  /** Who asks. */
  readonly kubeconfigFile: string;
  etcdTls(): SecureContextOptions;
}

interface Identity {
  readonly stamp: string;
  readonly agents: Readonly<Record<Trust, https.Agent>>;
}

const stampOf = async (file: string): Promise<string> => {
  const { mtimeMs, size, ino } = await stat(file);
  return `${mtimeMs} ${size} ${ino}`;
};

const loadIdentity = async (
  { directory, kubeconfigFile: file, etcdTls }: ClusterAccessOptions,
  stamp: string,
): Promise<Identity> => {
  const { credential } = readKubeconfig(await readFile(file, 'utf8'), file);
  const own = {
    cert: credential.certificatePem,
    key: credential.privateKeyPem,
    keepAlive: true,
    maxSockets: 2,
  };
  const ca = await readFile(certificatePath(directory, 'ca'), 'utf8');
  return {
    stamp,
    agents: {
      cluster: new https.Agent({ ...own, ca }),
      any: new https.Agent({ ...own, rejectUnauthorized: false }),
      etcd: new https.Agent({ ...own, ...etcdTls() }),
    },
  };
};

const send = (
  { url, body, timeoutMs = ANSWER_TIMEOUT_MS }: Ask,
  agent: http.Agent | https.Agent,
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const options = {
      agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'user-agent': 'pilothouse-monitor',
        ...(body !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        }),
      },
    };
    const request = url.startsWith('https:') ? https.request(url, options) : http.request(url, options);
    // Of the whole: a server that drips would hold a sample up.
    const timer = setTimeout(
      () => request.destroy(new ReasonError('TimedOut', `no response within ${timeoutMs} ms`)),
      timeoutMs,
    );
    const fail = (error: Error): void => {
      clearTimeout(timer);
      reject(error);
    };
    request.once('error', fail);
    request.once('response', (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > ANSWER_BYTES_MAX)
          request.destroy(
            new ReasonError('TooLarge', `the response is larger than ${ANSWER_BYTES_MAX} bytes`),
          );
        else chunks.push(chunk);
      });
      response.once('error', fail);
      response.once('end', () => {
        clearTimeout(timer);
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') });
      });
    });
    request.end(body);
  });

/** Connections are kept between requests; renewed credentials are taken up with the next one. */
export const openClusterAccess = (options: ClusterAccessOptions): ClusterAccess => {
  const plain = new http.Agent({ keepAlive: true, maxSockets: 2 });
  let identity: Promise<Identity> | undefined;
  let isClosed = false;

  const close = (one: Identity): void => {
    for (const agent of Object.values(one.agents)) agent.destroy();
  };
  const current = async (): Promise<Identity> => {
    const stamp = await stampOf(options.kubeconfigFile);
    const known = await identity?.catch(() => undefined);
    if (known?.stamp === stamp) return known;
    if (known) close(known);
    identity = loadIdentity(options, stamp);
    return identity;
  };

  return {
    async ask(request) {
      if (isClosed) throw new ReasonError('Closed', 'the cluster is no longer watched');
      if (!request.url.startsWith('https:')) return send(request, plain);
      return send(request, (await current()).agents[request.trust]);
    },
    dispose() {
      isClosed = true;
      plain.destroy();
      identity?.then(close, () => undefined);
    },
  };
};
