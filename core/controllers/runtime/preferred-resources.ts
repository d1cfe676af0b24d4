import { groupResourceText } from '../../api/meta/index.ts';
import type { DiscoveredResource, Discovery } from '../../client/index.ts';

/** Each resource once: in the version its group prefers, or in the first that has it where that one has it not. */
export const preferredResources = ({ resources }: Discovery): DiscoveredResource[] => {
  const chosen = new Map<string, DiscoveredResource>();
  for (const resource of resources) {
    const name = groupResourceText({ group: resource.group, resource: resource.plural });
    const held = chosen.get(name);
    if (!held || (resource.isPreferred && !held.isPreferred)) chosen.set(name, resource);
  }
  return [...chosen.values()];
};
