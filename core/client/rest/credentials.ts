import type { Clock } from '../../base/clock.ts';
import type { TokenSource } from '../client.ts';
import type { ClientConfig } from './config.ts';
import { ExecPlugin } from './exec-plugin.ts';
import { FileContent } from './file-content.ts';
import type { Authenticator } from './requester.ts';

/** client-go reads token files once a minute, and looks at certificates when it connects. */
const TOKEN_REFRESH_MS = 60_000;
const CERTIFICATE_REFRESH_MS = 10_000;

/** What a TLS connection is made with. */
export interface TlsMaterial {
  readonly authority: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
}

/** Everything that says who the client is, always fresh. */
export class Credentials implements Authenticator {
  readonly #authority: FileContent;
  readonly #certificate: FileContent;
  readonly #key: FileContent;
  readonly #token: FileContent;
  readonly #basic: string | undefined;
  readonly #exec: ExecPlugin | undefined;
  readonly #source: TokenSource | undefined;

  constructor(config: ClientConfig, clock: Clock) {
    const { auth } = config;
    const content = (source: { data?: string; file?: string } | undefined, refreshMs: number): FileContent =>
      new FileContent(source ?? {}, clock, refreshMs);
    this.#authority = content(config.authority, CERTIFICATE_REFRESH_MS);
    this.#certificate = content(auth.certificate, CERTIFICATE_REFRESH_MS);
    this.#key = content(auth.key, CERTIFICATE_REFRESH_MS);
    // A token file wins over a token: it is the one that is kept fresh.
    const token = auth.tokenFile ? { file: auth.tokenFile } : auth.token ? { data: auth.token } : {};
    this.#token = content(token, TOKEN_REFRESH_MS);
    this.#basic =
      auth.basic && Buffer.from(`${auth.basic.username}:${auth.basic.password}`).toString('base64');
    this.#source = auth.tokenSource;
    this.#exec = auth.exec && new ExecPlugin(auth.exec, config, clock);
  }

  async tls(signal: AbortSignal | undefined): Promise<TlsMaterial> {
    const given = await this.#exec?.credential(signal);
    return {
      authority: await this.#authority.read(),
      certificate: given?.certificate ?? (await this.#certificate.read()),
      key: given?.key ?? (await this.#key.read()),
    };
  }

  async headers(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    const token =
      (await this.#exec?.credential(signal))?.token ??
      (await this.#source?.token(signal)) ??
      (await this.#token.read())?.trim();
    if (token) return { authorization: `Bearer ${token}` };
    return this.#basic === undefined ? {} : { authorization: `Basic ${this.#basic}` };
  }

  rejected(): void {
    this.#exec?.forget();
    this.#source?.rejected();
  }
}
