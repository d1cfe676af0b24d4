import * as v from 'valibot';
import { call, stream, type CallShape, type Schema, type StreamShape } from './shape.ts';
import {
  appInfo,
  clusterList,
  kubeconfigChoice,
  processVitals,
  VITALS_PACES_SECONDS,
} from './schemas/app.ts';
import { notification } from './schemas/notification.ts';
import { settings, settingsPatch } from './schemas/settings.ts';

/**
 * Everything the console and its host process say to each other. Preload bridge, dispatcher, renderer
 * client, test fake and the WebSocket of `serve` derive from this map; nothing else crosses.
 */
export const contract = {
  /** Versions, platform and paths of this installation. */
  'app.info': call({ input: v.undefined_(), output: appInfo }),
  /** CPU and memory of the application's own processes, at the pace asked for, while somebody looks. */
  'app.vitals': stream({
    input: v.object({ everySeconds: v.picklist(VITALS_PACES_SECONDS) }),
    item: processVitals,
    batchItemsMax: 16,
  }),
  /** Opens a link of ours in the user's browser; only https is accepted. */
  'app.openExternal': call({
    input: v.object({ url: v.pipe(v.string(), v.maxLength(2048), v.startsWith('https://')) }),
    output: v.undefined_(),
  }),

  'settings.read': call({ input: v.undefined_(), output: settings }),
  'settings.write': call({ input: settingsPatch, output: settings }),
  /** The settings now, and again after every change, from whichever window it came. */
  'settings.watch': stream({ input: v.undefined_(), item: settings, batchItemsMax: 8 }),

  /** The clusters this console knows: its own, and those opened from a kubeconfig. */
  'clusters.list': call({ input: v.undefined_(), output: clusterList }),
  /** The clusters now, and again after every change. */
  'clusters.watch': stream({ input: v.undefined_(), item: clusterList, batchItemsMax: 8 }),
  /** Asks for a kubeconfig file (a native dialog in the app) and adds its contexts, read-only. */
  'clusters.openKubeconfig': call({ input: kubeconfigChoice, output: clusterList }),
  'clusters.forget': call({
    input: v.object({ id: v.pipe(v.string(), v.maxLength(512)) }),
    output: clusterList,
  }),

  /** Notices for the user, from the host side. */
  'notifications.watch': stream({ input: v.undefined_(), item: notification, batchItemsMax: 32 }),
  /** Where a deep link or a menu item wants the console to go. */
  'navigation.watch': stream({
    input: v.undefined_(),
    item: v.object({ path: v.pipe(v.string(), v.maxLength(1024), v.startsWith('/')) }),
    batchItemsMax: 8,
  }),
} as const;

export type Contract = typeof contract;
export type Name = keyof Contract;
export type CallName = { [N in Name]: Contract[N] extends CallShape ? N : never }[Name];
export type StreamName = { [N in Name]: Contract[N] extends StreamShape ? N : never }[Name];

export type InputOf<N extends Name> =
  Contract[N] extends CallShape<infer I, unknown>
    ? I
    : Contract[N] extends StreamShape<infer I, unknown>
      ? I
      : never;
export type OutputOf<N extends CallName> = Contract[N] extends { output: Schema<infer O> } ? O : never;
export type ItemOf<N extends StreamName> = Contract[N] extends { item: Schema<infer T> } ? T : never;

export const isName = (name: string): name is Name => Object.hasOwn(contract, name);
