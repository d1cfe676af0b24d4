import { ReasonError } from '../../base/errors.ts';

/** A reference to a Service in a client configuration. */
export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly path?: string | undefined;
  readonly port?: number | undefined;
}

/** Where a webhook is and how to know it: `clientConfig` of webhook configurations and custom resources. */
export interface WebhookTarget {
  readonly url?: string | undefined;
  readonly service?: ServiceReference | undefined;
  /** PEM in base64, as objects have it. Without one the authorities of the machine are trusted. */
  readonly caBundle?: string | undefined;
  /** For webhooks of the server's own configuration; objects have none. */
  readonly credentials?:
    | {
        readonly certPem?: string | undefined;
        readonly keyPem?: string | undefined;
        readonly bearerToken?: string | undefined;
      }
    | undefined;
}

const HTTPS_PORT = 443;

/** A target that was read: what is asked, under which name, and what it is called in errors. */
export interface Destination {
  /** As the URL has it, or the DNS name of the Service. */
  readonly host: string;
  readonly port: number;
  /** As the `Host` header and errors have it. */
  readonly authority: string;
  readonly path: string;
  readonly service: ServiceReference | undefined;
}

/** Reads a target. One that is neither a URL nor a Service is refused with upstream's words. */
export const destinationOf = ({ url, service }: WebhookTarget): Destination => {
  if (service) {
    const host = `${service.name}.${service.namespace}.svc`;
    const port = service.port ?? HTTPS_PORT;
    return { host, port, authority: `${host}:${port}`, path: service.path || '/', service };
  }
  if (url === undefined || url === '')
    throw new ReasonError('TargetInvalid', 'webhook configuration must have either service or URL');
  if (!URL.canParse(url))
    throw new ReasonError('TargetInvalid', `Unparsable URL: parse ${JSON.stringify(url)}`);
  const parsed = new URL(url);
  if (parsed.protocol !== 'https:')
    throw new ReasonError(
      'TargetInvalid',
      `unsupported protocol scheme ${JSON.stringify(parsed.protocol.slice(0, -1))}`,
    );
  return {
    host: parsed.hostname.replace(/^\[|\]$/g, ''),
    port: parsed.port === '' ? HTTPS_PORT : Number(parsed.port),
    authority: parsed.host,
    path: parsed.pathname,
    service: undefined,
  };
};
