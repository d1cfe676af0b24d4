import * as v from 'valibot';

export const themeChoice = v.picklist(['system', 'light', 'dark']);
export const densityChoice = v.picklist(['compact', 'normal', 'roomy']);
export const textSizeChoice = v.picklist(['small', 'normal', 'large']);
export const localeChoice = v.picklist(['system', 'en', 'de']);

/** What the user chose. Window geometry is the host's own business and is not here. */
export const settings = v.object({
  theme: themeChoice,
  locale: localeChoice,
  /** How much room rows take. */
  density: densityChoice,
  textSize: textSizeChoice,
  /** Keep running in the tray when the last window is closed. */
  keepInTray: v.boolean(),
  nativeNotifications: v.boolean(),
  /** Start the clusters again that were running when the console ended last. */
  resumeClusters: v.boolean(),
  /** The URL of a signed feed of releases; empty: no update is ever looked for. */
  updateFeed: v.pipe(v.string(), v.maxLength(2048)),
  /** The Ed25519 public key that signs it, in base64. */
  updateKey: v.pipe(v.string(), v.maxLength(64)),
});
export type Settings = v.InferOutput<typeof settings>;

export const settingsPatch = v.partial(settings);
export type SettingsPatch = v.InferOutput<typeof settingsPatch>;

export const settingsDefault: Settings = {
  theme: 'system',
  locale: 'system',
  density: 'normal',
  textSize: 'normal',
  keepInTray: false,
  nativeNotifications: true,
  resumeClusters: true,
  updateFeed: '',
  updateKey: '',
};
