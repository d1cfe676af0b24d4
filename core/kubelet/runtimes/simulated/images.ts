import { createHash } from 'node:crypto';
import { RuntimeError, type ImageInfo } from '../runtime.ts';

/** Names that no registry has, so that a bad rollout can be rehearsed. */
const UNRESOLVABLE_TAGS = new Set(['missing', 'does-not-exist', 'not-found']);
const UNRESOLVABLE_NAME = /(^|\/)(does-not-exist|missing-image|no-such-image)$/;
const UNREACHABLE_REGISTRY = /\.invalid(:\d+)?\//;
const DENIED_NAME = /(^|\/)(private|denied)\//;
const SHAPE =
  /^(?<name>[a-z0-9]+([._-]+[a-z0-9]+)*(:\d+)?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*)(:(?<tag>[\w][\w.-]{0,127}))?(@(?<digest>sha256:[a-f0-9]{64}))?$/;
export const IMAGES_MAX = 1_024;
/** A name of 255 characters, a tag and a digest: what the reference format allows. */
export const IMAGE_CHARACTERS_MAX = 255 + 1 + 128 + 1 + 71;
const SIZE_BYTES_MIN = 4_000_000;
const SIZE_BYTES_SPREAD = 96_000_000;

interface ImageName {
  readonly repository: string;
  readonly tag: string;
  readonly digest: string | undefined;
}

const parse = (image: string): ImageName => {
  const groups = image.length > IMAGE_CHARACTERS_MAX ? undefined : SHAPE.exec(image)?.groups;
  if (!groups)
    throw new RuntimeError(
      'InvalidImageName',
      `couldn't parse image name "${image.slice(0, IMAGE_CHARACTERS_MAX)}": invalid reference format`,
    );
  const name = groups['name']!;
  const hasRegistry = /^[^/]*[.:][^/]*\//.test(name) || name.startsWith('localhost/');
  const path = name.includes('/') ? name : `library/${name}`;
  return {
    repository: hasRegistry ? name : `docker.io/${path}`,
    tag: groups['tag'] ?? 'latest',
    digest: groups['digest'],
  };
};

/** The words of containerd, which is what users of a real cluster read. */
const refuse = ({ repository, tag }: ImageName): void => {
  const reference = `${repository}:${tag}`;
  const head = `failed to pull and unpack image "${reference}": failed to resolve reference "${reference}"`;
  const name = repository.split('/').slice(1).join('/');
  if (UNREACHABLE_REGISTRY.test(`${repository}/`)) {
    const [host = ''] = repository.split('/');
    throw new RuntimeError(
      'ErrImagePull',
      `${head}: failed to do request: Head "https://${host}/v2/${name}/manifests/${tag}": dial tcp: lookup ${host}: no such host`,
    );
  }
  if (DENIED_NAME.test(repository))
    throw new RuntimeError(
      'ErrImagePull',
      `${head}: pull access denied, repository does not exist or may require authorization: server message: insufficient_scope: authorization failed`,
    );
  if (UNRESOLVABLE_TAGS.has(tag) || UNRESOLVABLE_NAME.test(repository))
    throw new RuntimeError('ErrImagePull', `${head}: ${reference}: not found`);
};

/** What a name stands for: the same digest and size on every node and in every run. */
export const resolveImage = (image: string): ImageInfo => {
  const name = parse(image);
  refuse(name);
  const hash = createHash('sha256').update(`${name.repository}:${name.tag}`).digest();
  const digest = name.digest ?? `sha256:${hash.toString('hex')}`;
  return {
    image: `${name.repository}:${name.tag}`,
    imageID: `${name.repository}@${digest}`,
    sizeBytes: SIZE_BYTES_MIN + (hash.readUInt32BE(0) % SIZE_BYTES_SPREAD),
  };
};

/** The images of one node, by the name they were asked for; the oldest goes when there are too many. */
export class ImageStore {
  readonly #images = new Map<string, ImageInfo>();

  find(image: string): ImageInfo | undefined {
    return this.#images.get(image);
  }

  add(image: string, info: ImageInfo): void {
    this.#images.set(image, info);
    if (this.#images.size > IMAGES_MAX) this.#images.delete(this.#images.keys().next().value!);
  }

  list(): readonly ImageInfo[] {
    return [...this.#images.values()];
  }
}
