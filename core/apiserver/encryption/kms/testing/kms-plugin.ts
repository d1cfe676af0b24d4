import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { createServer, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import { MessageWriter } from '../../../../base/node/protobuf/message-writer.ts';
import { readMessage, type Message } from '../../../../base/node/protobuf/read-message.ts';

type Method = 'Status' | 'Encrypt' | 'Decrypt';

/** A KMS v2 plugin on a Unix socket that keeps its keys in memory. Fields may be changed while it runs. */
export interface KmsPlugin {
  readonly calls: Record<Method, number>;
  keyId: string;
  version: string;
  healthz: string;
  /** Every call fails with this text. */
  fails: string;
  isHanging: boolean;
  close(): void;
}

const NONCE_BYTES = 12;
const ANNOTATIONS = new Map([['version.encryption.remote.io', Buffer.from('1')]]);

export const startKmsPlugin = async (socketPath: string): Promise<KmsPlugin> => {
  const keys = new Map<string, Buffer>();
  const keyOf = (id: string): Buffer => {
    const key = keys.get(id) ?? randomBytes(32);
    keys.set(id, key);
    return key;
  };
  const sessions = new Set<Http2Session>();
  const answers: Record<Method, (request: Message) => Uint8Array> = {
    Status: () =>
      new MessageWriter()
        .string(1, plugin.version)
        .string(2, plugin.healthz)
        .string(3, plugin.keyId)
        .finish(),
    Encrypt(request) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', keyOf(plugin.keyId), nonce);
      const sealed = Buffer.concat([nonce, cipher.update(request.bytes(1)), cipher.final()]);
      return new MessageWriter().bytes(1, sealed).string(2, plugin.keyId).map(3, ANNOTATIONS).finish();
    },
    Decrypt(request) {
      const data = request.bytes(1);
      const cipher = createDecipheriv('aes-256-gcm', keyOf(request.text(3)), data.subarray(0, NONCE_BYTES));
      return new MessageWriter().bytes(1, cipher.update(data.subarray(NONCE_BYTES))).finish();
    },
  };
  const answer = (stream: ServerHttp2Stream, method: Method, body: Buffer): void => {
    plugin.calls[method] += 1;
    if (plugin.isHanging) return;
    const status = plugin.fails === '' ? '0' : '2';
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () =>
      stream.sendTrailers({ 'grpc-status': status, 'grpc-message': encodeURIComponent(plugin.fails) }),
    );
    if (plugin.fails !== '') return void stream.end();
    const message = answers[method](readMessage(body.subarray(5)));
    const head = Buffer.alloc(5);
    head.writeUInt32BE(message.length, 1);
    stream.end(Buffer.concat([head, message]));
  };
  const server = createServer();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => undefined);
  });
  server.on('stream', (stream, headers) => {
    const parts: Buffer[] = [];
    stream.on('error', () => undefined);
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('end', () =>
      answer(stream, String(headers[':path']).split('/').at(-1) as Method, Buffer.concat(parts)),
    );
  });
  const plugin: KmsPlugin = {
    calls: { Status: 0, Encrypt: 0, Decrypt: 0 },
    keyId: 'first',
    version: 'v2',
    healthz: 'ok',
    fails: '',
    isHanging: false,
    close() {
      server.close();
      for (const session of sessions) session.destroy();
    },
  };
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  return plugin;
};
