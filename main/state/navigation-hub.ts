import type { ItemOf } from '../../core/contract/index.ts';
import { Feed } from './feed.ts';

type Navigation = ItemOf<'navigation.watch'>;

const NAVIGATION_ITEMS_MAX = 8;

/** Where a deep link or a menu item wants the console to go. The last wish waits for the first console. */
export interface NavigationHub {
  go(path: string): void;
  watch(signal: AbortSignal): AsyncIterable<Navigation[]>;
  dispose(): void;
}

export const createNavigationHub = (): NavigationHub => {
  const feed = new Feed<Navigation>({ listenerItemsMax: NAVIGATION_ITEMS_MAX, unheardItemsMax: 1 });
  return {
    go: (path) => feed.publish({ path }),
    watch: (signal) => feed.listen(signal),
    dispose: () => feed.close(),
  };
};
