import type { Impersonation, TokenSource } from '../client.ts';

/** A value given in place, or a file that is read again when it changes. Data wins over a file, as in kubectl. */
export interface DataOrFile {
  readonly data?: string;
  readonly file?: string;
  /** What of the file it is; all of it without this. Undefined: the file is damaged. */
  readonly extract?: (content: string) => string | undefined;
  /** What it was when the file was last changed at that time: it is not read again before it changes. */
  readonly known?: { readonly value: string; readonly modifiedMs: number };
}

export interface ExecConfig {
  readonly apiVersion: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly installHint?: string;
  readonly provideClusterInfo: boolean;
  readonly interactiveMode?: string;
}

/** Who asks. Several may be given: a certificate for the connection, and one of the others for the requests. */
export interface AuthConfig {
  readonly certificate?: DataOrFile;
  readonly key?: DataOrFile;
  readonly token?: string;
  readonly tokenFile?: string;
  /** Wins over a token and its file. */
  readonly tokenSource?: TokenSource;
  readonly basic?: { readonly username: string; readonly password: string };
  readonly exec?: ExecConfig;
  readonly impersonation?: Impersonation;
}

/** One cluster and who talks to it. */
export interface ClientConfig {
  /** Base addresses, tried in order when one cannot be reached. All are the same cluster. */
  readonly servers: readonly string[];
  readonly authority?: DataOrFile;
  readonly insecureSkipTlsVerify?: boolean;
  /** The name that the server's certificate must have, when it is not the host's. */
  readonly tlsServerName?: string;
  /** `http://host:port`; the environment's without it; an empty text for none. */
  readonly proxyUrl?: string;
  readonly auth: AuthConfig;
  /** Where a user of this context works; `default` when it says nothing. */
  readonly namespace: string;
}
