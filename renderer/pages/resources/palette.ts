import type { PaletteEntry } from '../page.ts';
import { pluralKind, resourceName, resourcesIn, type Category } from '../../kinds/categories.ts';
import { categoryIcon } from '../../kinds/category-icons.ts';
import { t } from '../../locales/i18n.ts';
import { useDiscoveryStore } from '../../stores/discovery.ts';

/** Every kind of a category as a place to go to; found by its short names and group too. */
export const kindEntries = (category: Category): readonly PaletteEntry[] =>
  resourcesIn(useDiscoveryStore().resources, category).map((resource) => ({
    id: `kind-${resourceName(resource)}`,
    group: 'places',
    icon: categoryIcon[category],
    title: pluralKind(resource.kind),
    hint: t(`category.${category}`),
    keywords: [resource.plural, resource.group, ...resource.shortNames].join(' '),
    // A hash, as the router writes it: entries are made outside of any component.
    run: () => (window.location.hash = `#/${category}?kind=${encodeURIComponent(resourceName(resource))}`),
  }));
