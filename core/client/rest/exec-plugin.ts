import { execFile } from 'node:child_process';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { isJsonObject } from '../../api/meta/object-meta.ts';
import { parseTime } from '../../api/meta/time.ts';
import type { ClientConfig, ExecConfig } from './config.ts';
import { ClientError } from './errors.ts';

export const EXEC_API_VERSIONS = [
  'client.authentication.k8s.io/v1',
  'client.authentication.k8s.io/v1beta1',
] as const;

/** Plugins may ask a cloud, or a person at a browser, who gets three minutes; one that takes longer is stuck. */
const PLUGIN_TIMEOUT_MS = 200_000;
const PLUGIN_OUTPUT_BYTES_MAX = 1024 * 1024;
const STDERR_CHARACTERS_MAX = 1000;

export interface ExecCredential {
  readonly token: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  /** Of the wall clock; undefined for one that is good until it is refused. */
  readonly expiresMs: number | undefined;
}

/** A credential plugin. It runs when there is no credential or the last one expires, and once at a time. */
export class ExecPlugin {
  readonly #exec: ExecConfig;
  readonly #info: string;
  readonly #clock: Clock;
  #credential: ExecCredential | undefined;
  #running: Promise<ExecCredential> | undefined;

  constructor(exec: ExecConfig, config: ClientConfig, clock: Clock) {
    if (!(EXEC_API_VERSIONS as readonly string[]).includes(exec.apiVersion))
      throw new ClientError(
        'BadConfig',
        `exec plugin: invalid apiVersion ${JSON.stringify(exec.apiVersion)}`,
      );
    if (exec.interactiveMode === 'Always')
      throw new ClientError(
        'BadConfig',
        `exec plugin ${exec.command} requires a terminal, which is not available`,
      );
    this.#exec = exec;
    this.#info = execInfo(exec, config);
    this.#clock = clock;
  }

  async credential(signal: AbortSignal | undefined): Promise<ExecCredential> {
    const held = this.#credential;
    if (held && (held.expiresMs === undefined || this.#clock.nowMs() < held.expiresMs)) return held;
    this.#running ??= this.#run().finally(() => (this.#running = undefined));
    // Not tied to the signal of the first who asked: others wait for the same run.
    const credential = await this.#running;
    if (signal?.aborted) throw signal.reason;
    return credential;
  }

  /** The server refused it: the next request asks the plugin again. */
  forget(): void {
    this.#credential = undefined;
  }

  async #run(): Promise<ExecCredential> {
    const output = await this.#execute();
    this.#credential = parseCredential(output, this.#exec);
    return this.#credential;
  }

  #execute(): Promise<string> {
    const { command, args, env, installHint } = this.#exec;
    return new Promise((resolve, reject) => {
      const child = execFile(
        command,
        [...args],
        {
          env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: this.#info },
          timeout: PLUGIN_TIMEOUT_MS,
          maxBuffer: PLUGIN_OUTPUT_BYTES_MAX,
          windowsHide: true,
        },
        (error, stdout, stderr) => {
          if (!error) return resolve(stdout);
          const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
          const why = missing
            ? `executable ${command} not found${installHint ? `\n\n${installHint}` : ''}`
            : `${messageOf(error)} ${stderr.slice(0, STDERR_CHARACTERS_MAX)}`.trim();
          reject(new ClientError('BadCredentials', `getting credentials: exec: ${why}`, { cause: error }));
        },
      );
      child.stdin?.end();
    });
  }
}

const parseCredential = (output: string, exec: ExecConfig): ExecCredential => {
  const fail = (why: string, cause?: unknown): ClientError =>
    new ClientError('BadCredentials', `getting credentials: exec plugin ${exec.command} ${why}`, { cause });
  let answer: unknown;
  try {
    answer = JSON.parse(output);
  } catch (cause) {
    throw fail('printed no JSON', cause);
  }
  if (!isJsonObject(answer) || answer['apiVersion'] !== exec.apiVersion)
    throw fail(`is configured to use API version ${exec.apiVersion}, but returned another`);
  const { status } = answer;
  if (!isJsonObject(status)) throw fail("didn't return a status field");
  const text = (name: string): string | undefined => {
    const value = status[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const [token, certificate, key] = [text('token'), text('clientCertificateData'), text('clientKeyData')];
  if (!token && !certificate && !key) throw fail("didn't return a token or cert/key pair");
  if ((certificate === undefined) !== (key === undefined))
    throw fail('returned only certificate or key, not both');
  return { token, certificate, key, expiresMs: parseTime(text('expirationTimestamp') ?? '') };
};

const execInfo = (exec: ExecConfig, config: ClientConfig): string =>
  JSON.stringify({
    kind: 'ExecCredential',
    apiVersion: exec.apiVersion,
    spec: {
      interactive: false,
      ...(exec.provideClusterInfo && {
        cluster: {
          server: config.servers[0],
          ...(config.tlsServerName && { 'tls-server-name': config.tlsServerName }),
          ...(config.insecureSkipTlsVerify && { 'insecure-skip-tls-verify': true }),
          ...(config.authority?.data && {
            'certificate-authority-data': Buffer.from(config.authority.data).toString('base64'),
          }),
          ...(config.proxyUrl && { 'proxy-url': config.proxyUrl }),
          config: null,
        },
      }),
    },
  });
