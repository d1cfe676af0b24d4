import { join } from 'node:path';
import {
  settings as settingsSchema,
  settingsDefault,
  type Settings,
  type SettingsPatch,
} from '../../core/contract/index.ts';
import { Feed } from './feed.ts';
import { openJsonDocument, type Damage } from './json-document.ts';

/** Only the newest settings matter to a listener. */
const LISTENER_ITEMS_MAX = 1;

export interface SettingsStore {
  read(): Settings;
  /** Resolves when the change is durable and has been told to every listener. */
  write(patch: SettingsPatch): Promise<Settings>;
  watch(signal: AbortSignal): AsyncIterable<Settings[]>;
  dispose(): void;
}

export interface SettingsStoreOptions {
  readonly dataDirectory: string;
  readonly onDamage: (damage: Damage) => void;
}

export const createSettingsStore = (options: SettingsStoreOptions): SettingsStore => {
  const feed = new Feed<Settings>({ listenerItemsMax: LISTENER_ITEMS_MAX });
  const document = openJsonDocument({
    path: join(options.dataDirectory, 'settings.json'),
    schema: settingsSchema,
    initial: settingsDefault,
    onDamage: options.onDamage,
  });
  return {
    read: () => document.value,
    async write(patch) {
      // A key that is present but undefined asks for no change.
      const given = Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
      const changed = await document.change((current) => ({ ...current, ...given }));
      feed.publish(changed);
      return changed;
    },
    watch: (signal) => feed.listen(signal, [document.value]),
    dispose: () => feed.close(),
  };
};
