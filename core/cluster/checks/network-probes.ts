import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';

const PROBE_MS_MAX = 5_000;

export const isPortOpen = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: PROBE_MS_MAX });
    const end = (isOpen: boolean): void => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.once('timeout', () => end(false));
  });

export type ProbeTls = Pick<tls.ConnectionOptions, 'ca' | 'cert' | 'key' | 'rejectUnauthorized'>;

/** The status of a GET, with a certificate or without any credentials. */
export const statusFor = (url: string, credentials: ProbeTls): Promise<number> =>
  new Promise((resolve, reject) => {
    const request = https.get(url, { ...credentials, agent: false, timeout: PROBE_MS_MAX }, (response) => {
      resolve(response.statusCode ?? 0);
      // Some answers never end.
      response.destroy();
    });
    request.once('timeout', () => request.destroy(new Error(`${url} did not respond in time`)));
    request.once('error', reject);
  });

const JSON_BYTES_MAX = 1024 * 1024;

/** The JSON that a GET is answered with. Rejects where it is refused, too long or something else. */
export const jsonFor = (url: string, credentials: ProbeTls): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const request = https.get(url, { ...credentials, agent: false, timeout: PROBE_MS_MAX }, (response) => {
      if (response.statusCode !== 200)
        return void request.destroy(new Error(`${url} answered with status ${response.statusCode}`));
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
        if (text.length > JSON_BYTES_MAX) request.destroy(new Error(`${url} answered at too great length`));
      });
      response.once('end', () => {
        try {
          resolve(JSON.parse(text));
        } catch (error) {
          reject(error);
        }
      });
    });
    request.once('timeout', () => request.destroy(new Error(`${url} did not respond in time`)));
    request.once('error', reject);
  });

/** The status of a GET by no one at all. */
export const anonymousStatus = (url: string, authorityPem: string): Promise<number> =>
  statusFor(url, { ca: authorityPem });

/** The start of HTTP/2 with empty settings: anyone who lets us in answers it. */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0', 'latin1');

/** Whether a TLS server lets in who shows no certificate. Rejects when no one listens. */
export const letsInWithoutCertificate = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const socket = tls.connect({ host, port, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
    let isConnected = false;
    const end = (isLetIn: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(isLetIn);
    };
    const timer = setTimeout(() => end(isConnected), PROBE_MS_MAX);
    socket.once('connect', () => (isConnected = true));
    socket.once('secureConnect', () => socket.write(PREFACE));
    // TLS 1.3 refuses after the handshake seems done: only data proves that we are in.
    socket.once('data', () => end(true));
    socket.once('close', () => end(false));
    socket.once('error', (error) => {
      if (isConnected) return end(false);
      clearTimeout(timer);
      reject(error);
    });
  });

/** Whether a server answers plain HTTP with anything but a refusal. */
export const answersPlainHttp = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect({ host, port, timeout: PROBE_MS_MAX });
    const end = (isAnswered: boolean): void => {
      socket.destroy();
      resolve(isAnswered);
    };
    socket.once('connect', () =>
      socket.write(`GET /version HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
    );
    // Upstream answers such a request with 400 and a sentence about HTTPS.
    socket.once('data', (data) => end(/^HTTP\/1\.1 [23]/.test(data.toString('latin1'))));
    socket.once('error', () => end(false));
    socket.once('close', () => end(false));
    socket.once('timeout', () => end(false));
  });
