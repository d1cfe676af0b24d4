import { onScopeDispose, ref, shallowRef, type Ref, type ShallowRef } from 'vue';
import type { Disposable } from '../../../../../core/base/disposable.ts';
import { ContractError, saidOf, type Client } from '../../../../../core/contract/index.ts';
import { useConnection } from '../../../../bridge/index.ts';
import { localName } from './paths.ts';

const SESSION_BYTES = 16;
/** As much as one message may carry. */
const CHUNK_BYTES = 192 * 1024;
/** `String.fromCharCode` takes so many arguments. */
const SPREAD_MAX = 8 * 1024;
/** The browser has to have opened the blob before its address goes. */
const BLOB_LIFE_MS = 60_000;

export interface FilePlace {
  readonly cluster: string;
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly folder: string;
}

export interface Transfer {
  readonly direction: 'download' | 'upload';
  readonly name: string;
  readonly doneBytes: number;
  /** Undefined while it is not known. */
  readonly totalBytes: number | undefined;
}

export interface TransferEnd {
  readonly leftOut: number;
}

const bytesOfBase64 = (base64: string): Uint8Array<ArrayBuffer> => {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
};

const base64Of = (bytes: Uint8Array): string => {
  let text = '';
  for (let at = 0; at < bytes.length; at += SPREAD_MAX)
    text += String.fromCharCode(...bytes.subarray(at, at + SPREAD_MAX));
  return btoa(text);
};

const newSession = (): string =>
  [...crypto.getRandomValues(new Uint8Array(SESSION_BYTES))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');

const save = (parts: BlobPart[], name: string): void => {
  const url = URL.createObjectURL(new Blob(parts, { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), BLOB_LIFE_MS);
};

const asError = (error: unknown): ContractError =>
  error instanceof ContractError ? error : new ContractError('Internal', saidOf(error), { cause: error });

/** One file or folder on its way, to or from a container. */
export const useFileTransfer = (): {
  readonly current: Readonly<ShallowRef<Transfer | undefined>>;
  readonly error: Readonly<ShallowRef<ContractError | undefined>>;
  readonly isBusy: Readonly<Ref<boolean>>;
  download(place: FilePlace, name: string, isFolder: boolean): Promise<TransferEnd | undefined>;
  /** Undefined when it failed or was cancelled. */
  upload(place: FilePlace, file: File): Promise<TransferEnd | undefined>;
  cancel(): void;
} => {
  const connection = useConnection();
  const current = shallowRef<Transfer>();
  const error = shallowRef<ContractError>();
  const isBusy = ref(false);
  let stream: Disposable | undefined;
  let settle: (() => void) | undefined;

  const cancel = (): void => {
    stream?.dispose();
    settle?.();
  };

  /** Runs one transfer to its end; `open` is given how to finish it. */
  const run = async (
    first: Transfer,
    open: (client: Client, finish: (end: TransferEnd | undefined, why?: ContractError) => void) => Disposable,
  ): Promise<TransferEnd | undefined> => {
    const client = connection.client.value;
    if (!client || isBusy.value) return undefined;
    isBusy.value = true;
    error.value = undefined;
    current.value = first;
    const end = await new Promise<TransferEnd | undefined>((resolve) => {
      settle = () => resolve(undefined);
      stream = open(client, (result, why) => {
        error.value = why;
        resolve(result);
      });
    });
    stream?.dispose();
    stream = settle = undefined;
    current.value = undefined;
    isBusy.value = false;
    return end;
  };

  const advance = (bytes: number): void => {
    const now = current.value;
    if (now) current.value = { ...now, doneBytes: now.doneBytes + bytes };
  };

  onScopeDispose(cancel);
  return {
    current,
    error,
    isBusy,
    cancel,
    download: (place, name, isFolder) => {
      const parts: BlobPart[] = [];
      return run({ direction: 'download', name, doneBytes: 0, totalBytes: undefined }, (client, finish) =>
        client.open(
          'files.download',
          { ...place, name, isFolder },
          {
            onBatch(items) {
              for (const item of items)
                if (item.kind === 'begin') {
                  if (current.value)
                    current.value = { ...current.value, totalBytes: item.sizeBytes ?? undefined };
                } else if (item.kind === 'bytes') {
                  const bytes = bytesOfBase64(item.base64);
                  parts.push(bytes);
                  advance(bytes.length);
                } else {
                  save(parts, localName(name, isFolder));
                  finish({ leftOut: item.leftOut });
                }
            },
            onEnd: (why) => finish(undefined, why),
          },
        ),
      );
    },
    upload: (place, file) => {
      const session = newSession();
      const send = async (client: Client): Promise<void> => {
        for (let at = 0; at < file.size && current.value; at += CHUNK_BYTES) {
          const bytes = new Uint8Array(await file.slice(at, at + CHUNK_BYTES).arrayBuffer());
          await client.call('files.chunk', { session, base64: base64Of(bytes) });
          advance(bytes.length);
        }
      };
      return run(
        { direction: 'upload', name: file.name, doneBytes: 0, totalBytes: file.size },
        (client, finish) =>
          client.open(
            'files.upload',
            { ...place, session, name: file.name, sizeBytes: file.size },
            {
              onBatch(items) {
                for (const { kind } of items)
                  if (kind === 'ready') {
                    // The end of the stream tells why the container took no more; a file that cannot be read does not.
                    void send(client).catch((cause: unknown) => {
                      if (!(cause instanceof ContractError)) finish(undefined, asError(cause));
                    });
                  } else finish({ leftOut: 0 });
              },
              onEnd: (why) => finish(undefined, why),
            },
          ),
      );
    },
  };
};
