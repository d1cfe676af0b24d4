import type { Clock } from '../../core/base/clock.ts';
import { encodeHeader, END_BYTES, paddingOf } from '../../core/base/node/tar/header.ts';
import type { ClientConfig } from '../../core/client/index.ts';
import { ContractError, say, type UploadItem, type UploadQuery } from '../../core/contract/index.ts';
import { commandFailure, openPodCommand, type PodCommand } from './pod-command.ts';

const UPLOADS_MAX = 16;
const FILE_MODE = 0o644;

interface Upload {
  readonly command: PodCommand;
  readonly sizeBytes: number;
  sentBytes: number;
  /** Chunks are written in the order of their calls. */
  tail: Promise<void>;
}

const unpack = (folder: string): string[] => ['tar', '-xmf', '-', '-C', folder];
/** Where standard input cannot be closed, tar would wait for more behind the archive's end. */
const unpackCounted = (folder: string, bytes: number): string[] => [
  'sh',
  '-c',
  'head -c "$1" | tar -xmf - -C "$2"',
  'sh',
  String(bytes),
  folder,
];

/** Files on their way into containers. */
export class Uploads {
  readonly #clock: Clock;
  readonly #open = new Map<string, Upload>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async *run(
    query: UploadQuery,
    config: ClientConfig,
    signal: AbortSignal,
  ): AsyncGenerator<UploadItem[], void, void> {
    const { session, sizeBytes, name, folder } = query;
    if (this.#open.has(session)) throw new ContractError('Conflict', say('failure.files.open'));
    if (this.#open.size >= UPLOADS_MAX)
      throw new ContractError('Unavailable', say('failure.files.most', { max: UPLOADS_MAX }));
    const entry = { name: `./${name}`, type: 'file', sizeBytes, mode: FILE_MODE } as const;
    const header = encodeHeader({ ...entry, mtimeMs: this.#clock.nowMs() });
    const archiveBytes = header.length + sizeBytes + paddingOf(sizeBytes) + END_BYTES;
    const asked = { ...query, hasInput: true, command: unpack(folder) };
    let command = await openPodCommand(config, asked, this.#clock, signal);
    if (!command.canCloseInput) {
      command.dispose();
      const counted = { ...asked, command: unpackCounted(folder, archiveBytes) };
      command = await openPodCommand(config, counted, this.#clock, signal);
    }
    const upload: Upload = { command, sizeBytes, sentBytes: 0, tail: command.write(header) };
    this.#open.set(session, upload);
    try {
      if (sizeBytes === 0) this.#finish(upload);
      yield [{ kind: 'ready' }];
      const end = await command.ended;
      if (signal.aborted) return;
      if (end.exitCode !== 0) throw commandFailure(asked, end);
      if (upload.sentBytes < sizeBytes) throw new ContractError('Cancelled', say('failure.files.closed'));
      yield [{ kind: 'done' }];
    } finally {
      this.#open.delete(session);
      command.dispose();
    }
  }

  async write(session: string, base64: string): Promise<void> {
    const upload = this.#open.get(session);
    const bytes = Buffer.from(base64, 'base64');
    if (!upload || upload.sentBytes + bytes.length > upload.sizeBytes)
      throw new ContractError('NotFound', say('failure.files.closed'));
    upload.sentBytes += bytes.length;
    upload.tail = upload.tail.then(() => upload.command.write(bytes));
    if (upload.sentBytes === upload.sizeBytes) this.#finish(upload);
    await upload.tail;
  }

  #finish(upload: Upload): void {
    upload.tail = upload.tail
      .then(() => upload.command.write(Buffer.alloc(paddingOf(upload.sizeBytes) + END_BYTES)))
      .then(() => upload.command.closeInput());
  }
}
