import { SCORE_MAX, type Plugin } from '../../framework/plugin.ts';
import type { Pod } from '../../model/objects.ts';
import { IMAGE_LOCALITY } from '../../framework/plugin-names.ts';

const MIB = 1024 * 1024;
/** Below this an image is pulled quickly anyway; above the other, more makes no difference. */
const THRESHOLD_MIN_BYTES = 23 * MIB;
const THRESHOLD_MAX_BYTES_PER_IMAGE = 1000 * MIB;

const normalizedName = (name: string): string =>
  name.lastIndexOf(':') <= name.lastIndexOf('/') ? `${name}:latest` : name;

const imagesOf = ({ spec }: Pod): readonly string[] => [
  ...(spec.initContainers ?? []).map(({ image }) => image ?? ''),
  ...spec.containers.map(({ image }) => image ?? ''),
  ...(spec.volumes ?? []).flatMap(({ image }) => (image ? [image.reference ?? ''] : [])),
];

/**
 * Likes nodes that already have the pod's images, by size; an image that few nodes have counts less, lest all
 * pods crowd there.
 */
export const imageLocality = (): Plugin => ({
  name: IMAGE_LOCALITY,
  score(cycle, { pod }, slots, scores) {
    const images = imagesOf(pod);
    const { nodeCount } = cycle.snapshot;
    for (const image of images) {
      const state = cycle.snapshot.images.get(normalizedName(image));
      if (!state) continue;
      const scaled = Math.trunc(state.sizeBytes * (state.slots.size / nodeCount));
      for (let at = 0; at < slots.length; at += 1) if (state.slots.has(slots[at]!)) scores[at]! += scaled;
    }
    const max = THRESHOLD_MAX_BYTES_PER_IMAGE * images.length;
    for (let at = 0; at < slots.length; at += 1) {
      const sum = Math.min(max, Math.max(THRESHOLD_MIN_BYTES, scores[at]!));
      scores[at] = Math.trunc((SCORE_MAX * (sum - THRESHOLD_MIN_BYTES)) / (max - THRESHOLD_MIN_BYTES));
    }
    return undefined;
  },
});
