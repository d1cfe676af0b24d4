import { randomBytes } from 'node:crypto';
import type { Clock } from '../../core/base/clock.ts';
import type { ClientConfig } from '../../core/client/index.ts';
import type {
  DownloadItem,
  DownloadQuery,
  FolderListing,
  FolderQuery,
  Handlers,
} from '../../core/contract/index.ts';
import type { Connections } from '../kube/connections.ts';
import { archiveFailure, fileOf, folderOf, packCommand } from './download.ts';
import { LISTING_BYTES_MAX, listingCommand, parseListing } from './listing.ts';
import { commandFailure, openPodCommand } from './pod-command.ts';
import { Uploads } from './upload.ts';

const MARK_BYTES = 12;

export interface FileDependencies {
  readonly clock: Clock;
  readonly connections: Pick<Connections, 'openForWriting'>;
}

const list = async (
  query: FolderQuery,
  config: ClientConfig,
  clock: Clock,
  signal: AbortSignal,
): Promise<FolderListing> => {
  const mark = randomBytes(MARK_BYTES).toString('hex');
  const asked = { ...query, command: listingCommand(query.folder, mark) };
  const command = await openPodCommand(config, asked, clock, signal);
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of command.output()) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > LISTING_BYTES_MAX) break;
    }
    const isTooLong = bytes > LISTING_BYTES_MAX;
    const listing = parseListing(Buffer.concat(chunks).toString(), query.folder, mark);
    if (isTooLong) return { ...listing, isCut: true, problem: null };
    const end = await command.ended;
    // Of a broken link or a file that has just gone the programs complain, and list the others.
    if (end.exitCode !== 0 && listing.entries.length === 0) throw commandFailure(asked, end);
    return { ...listing, problem: end.complaint.trim() === '' ? null : end.complaint.trim() };
  } finally {
    command.dispose();
  }
};

async function* download(
  query: DownloadQuery,
  config: ClientConfig,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<DownloadItem[], void, void> {
  const { folder, name, isFolder } = query;
  const asked = { ...query, command: packCommand(folder, name, isFolder) };
  const command = await openPodCommand(config, asked, clock, signal);
  try {
    let isWhole = false;
    for await (const item of (isFolder ? folderOf : fileOf)(command.output(), name)) {
      isWhole ||= item.kind === 'end';
      yield [item];
    }
    if (!isWhole && !signal.aborted) throw commandFailure(asked, await command.ended);
  } catch (error) {
    throw archiveFailure(error, name);
  } finally {
    command.dispose();
  }
}

export const createFileHandlers = ({ clock, connections }: FileDependencies): Handlers => {
  const uploads = new Uploads(clock);
  const configOf = async (cluster: string): Promise<ClientConfig> =>
    (await connections.openForWriting(cluster)).config;
  return {
    'files.list': async (query, signal) => list(query, await configOf(query.cluster), clock, signal),
    'files.download': async function* (query, signal) {
      yield* download(query, await configOf(query.cluster), clock, signal);
    },
    'files.upload': async function* (query, signal) {
      yield* uploads.run(query, await configOf(query.cluster), signal);
    },
    'files.chunk': async ({ session, base64 }) => {
      await uploads.write(session, base64);
      return undefined;
    },
  };
};
