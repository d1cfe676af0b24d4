import { open } from 'node:fs/promises';
import { messageOf } from '../../core/base/errors.ts';
import { say } from '../../core/contract/index.ts';
import type { HandlerSet } from '../ipc/handlers/index.ts';
import type { ConsoleWindows } from '../windows/console-windows.ts';

/** bbolt's magic number, little-endian, behind the header of the first page. */
const BOLT_MAGIC = 0xed0cdaed;
const BOLT_MAGIC_AT = 16;
const BYTES_LOOKED_AT = 20;

/** What a file manager may open with the app: an etcd snapshot by its first bytes, anything else as a kubeconfig. */
export const kindOfFile = (head: Uint8Array): 'snapshot' | 'kubeconfig' =>
  head.length >= BYTES_LOOKED_AT &&
  new DataView(head.buffer, head.byteOffset).getUint32(BOLT_MAGIC_AT, true) === BOLT_MAGIC
    ? 'snapshot'
    : 'kubeconfig';

export interface FileOpener {
  /** Allows pages to speak of this snapshot. */
  allowSnapshot(path: string): void;
  openKubeconfig(path: string): Promise<unknown>;
  go(path: string): void;
}

/** Opens a file that a person opened outside the app. Fails for what can be read as neither. */
export const openFile = async (path: string, opener: FileOpener): Promise<void> => {
  const file = await open(path);
  let head: Uint8Array;
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(BYTES_LOOKED_AT), 0, BYTES_LOOKED_AT, 0);
    head = buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
  if (kindOfFile(head) === 'snapshot') {
    opener.allowSnapshot(path);
    opener.go(`/snapshots?restore=${encodeURIComponent(path)}`);
    return;
  }
  await opener.openKubeconfig(path);
  opener.go('/clusters');
};

/** The same in the app: a file that cannot be opened becomes a notice. */
export const openFileOrTell = (path: string, host: HandlerSet, windows: ConsoleWindows): void => {
  const opener: FileOpener = {
    allowSnapshot: (file) => host.allowSnapshot(file),
    openKubeconfig: (file) => host.clusters.open(file),
    go: (page) => windows.go(page),
  };
  openFile(path, opener).catch((error: unknown) =>
    host.notifications.post({
      severity: 'error',
      title: say('notice.file.failed'),
      detail: say('notice.reason', { reason: messageOf(error) }),
    }),
  );
};
