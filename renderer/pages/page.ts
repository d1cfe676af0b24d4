import type { Component } from 'vue';
import type { IconName } from '../components/icon-names.ts';
import type { PlainKey } from '../locales/i18n.ts';

/** In the order of the navigation; `home` has no heading. */
export const navGroups = ['home', 'control-plane', 'operate', 'resources', 'tools', 'console'] as const;
export type NavGroup = (typeof navGroups)[number];

export interface PaletteEntry {
  readonly id: string;
  readonly group: 'actions' | 'places' | 'objects' | 'found';
  readonly icon: IconName;
  readonly title: string;
  /** At the right: the consequence of an action, the kind or place of an object. */
  readonly hint?: string;
  /** Found by these words too; they are not shown. */
  readonly keywords?: string;
  /** Keys that do the same, as shown to the user. */
  readonly keys?: readonly string[];
  run(): unknown;
  /** What else can be done with it; the palette shows it on Tab. */
  actions?(): readonly PaletteEntry[];
}

/** A key that works on one page, for the help. */
export interface PageKey {
  readonly keys: readonly string[];
  readonly text: PlainKey;
}

/** A page is a folder under pages/ whose `page.ts` exports one of these as `page`. */
export interface Page {
  readonly id: string;
  readonly path: string;
  readonly group: NavGroup;
  /** Within its group, ascending. */
  readonly order: number;
  readonly icon: IconName;
  readonly title: PlainKey;
  /** After G, the key that goes there. */
  readonly goKey?: string;
  /** What works on this page besides the keys of the shell. */
  readonly keys?: readonly PageKey[];
  readonly component: () => Promise<{ default: Component }>;
  /** It has something to show without a cluster. */
  readonly standsAlone?: true;
  /** Actions and objects for the palette; called inside the app, may use stores, is tracked. */
  readonly palette?: () => readonly PaletteEntry[];
}

export const definePage = (page: Page): Page => page;
