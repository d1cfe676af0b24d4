import { statfs } from 'node:fs/promises';
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import { bytesToFree, ImageUse, type Disk, type StoredImage } from '../../images/image-gc.ts';
import { RuntimeError, type CollectedImages, type ImageInfo, type PullRequest } from '../runtime.ts';
import type { CriClient } from './cri-client.ts';
import type { CriImage } from './messages.ts';

const infoOf = (image: CriImage, asNamed: string): ImageInfo => ({
  image: image.tags[0] ?? asNamed,
  imageID: image.digests[0] ?? image.id,
  sizeBytes: image.sizeBytes,
});

const diskAt = async (path: string): Promise<Disk> => {
  const { blocks, bavail, bsize } = await statfs(path);
  return { capacityBytes: blocks * bsize, availableBytes: bavail * bsize };
};

/** The images of a container runtime. */
export class ImageStore {
  readonly #client: CriClient;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #use = new ImageUse();
  readonly #diskAt: typeof diskAt;

  constructor(options: {
    readonly client: CriClient;
    readonly clock: Clock;
    readonly log: Log;
    readonly diskAt?: typeof diskAt;
  }) {
    this.#client = options.client;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#diskAt = options.diskAt ?? diskAt;
  }

  async find(image: string): Promise<ImageInfo | undefined> {
    const found = await this.#client.image(image);
    return found && infoOf(found, image);
  }

  async all(): Promise<readonly ImageInfo[]> {
    return (await this.#client.images()).map((image) => infoOf(image, image.id));
  }

  /** With each of the pod's credentials in turn; without any where it has none. */
  async pull({ image, credentials = [], signal }: PullRequest): Promise<ImageInfo> {
    const failures: unknown[] = [];
    for (const credential of credentials.length > 0 ? credentials : [undefined])
      try {
        const auth = credential && { ...credential, auth: '', serverAddress: '' };
        const reference = await this.#client.pull(image, auth, undefined, signal);
        const found = await this.#client.image(reference);
        if (!found) throw new Error(`image "${image}" is not there after it was pulled`);
        return infoOf(found, image);
      } catch (error) {
        failures.push(error);
        if (signal.aborted) break;
      }
    const message = [...new Set(failures.map(messageOf))].join(', ');
    const isInvalid = message.includes('invalid reference format');
    throw new RuntimeError(isInvalid ? 'InvalidImageName' : 'ErrImagePull', message, { cause: failures[0] });
  }

  /** Removes images that no container uses while their disk is too full. Those of all nodes and clusters count as used. */
  async collect(): Promise<CollectedImages> {
    const nowMs = this.#clock.nowMs();
    const { stored, used } = await this.#stored();
    this.#use.observe(stored, used, nowMs);
    const place = await this.#client.imageFolder();
    const wantedBytes = place === undefined ? 0 : bytesToFree(await this.#diskAt(place));
    const { going, freedBytes } = this.#use.removable(stored, used, wantedBytes, nowMs);
    await this.#remove(going);
    return { wantedBytes, freedBytes };
  }

  /** Every image that no container uses, however young it is. */
  async removeUnused(): Promise<void> {
    const { stored, used } = await this.#stored();
    await this.#remove(stored.filter(({ id, isPinned }) => !isPinned && !used.has(id)));
  }

  async #remove(images: readonly StoredImage[]): Promise<void> {
    for (const { id } of images) {
      this.#log.write('info', 'removing an image to free bytes', { image: id });
      await this.#client.removeImage(id);
    }
  }

  async #stored(): Promise<{ readonly stored: readonly StoredImage[]; readonly used: ReadonlySet<string> }> {
    const [images, containers, { sandboxImage }] = await Promise.all([
      this.#client.images(),
      this.#client.listContainers({}),
      this.#client.status(),
    ]);
    const references = new Set(containers.map(({ imageRef }) => imageRef));
    const isUsed = ({ id, tags, digests }: CriImage): boolean =>
      [id, ...tags, ...digests].some((name) => references.has(name));
    const stored = images.map((image) => ({
      ...image,
      isPinned: image.isPinned || (sandboxImage !== '' && image.tags.includes(sandboxImage)),
    }));
    return { stored, used: new Set(images.filter(isUsed).map(({ id }) => id)) };
  }
}
