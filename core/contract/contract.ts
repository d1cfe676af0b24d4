import * as v from 'valibot';
import { call, stream, type CallShape, type Schema, type StreamShape } from './shape.ts';
import {
  appInfo,
  clusterList,
  kubeconfigChoice,
  processVitals,
  VITALS_PACES_SECONDS,
} from './schemas/app.ts';
import {
  apiAnswer,
  apiRequest,
  applyRequest,
  applyResult,
  clusterRef,
  execInput,
  execItem,
  execQuery,
  kubeDiscovery,
  logItem,
  logQuery,
  objectItem,
  objectRef,
  openApiSchemas,
  tableItem,
  tableQuery,
} from './schemas/kube.ts';
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

  /** Until the host ends: clusters opened from a kubeconfig start read-only each time. */
  'clusters.setReadOnly': call({
    input: v.object({ id: clusterRef, readOnly: v.boolean() }),
    output: clusterList,
  }),

  /** What the server offers; `isFresh` asks it again. */
  'kube.discovery': call({
    input: v.object({ cluster: clusterRef, isFresh: v.boolean() }),
    output: kubeDiscovery,
  }),
  /** A list with the server's own columns, live by watch. Changes are gathered, so that rows come in bursts. */
  'kube.table': stream({ input: tableQuery, item: tableItem, batchItemsMax: 8 }),
  /** One object as it is now, and again after every change. */
  'kube.object': stream({ input: objectRef, item: objectItem, batchItemsMax: 4 }),
  /** One request below /api, /apis or /version; writes are refused while the cluster is read-only. */
  'kube.request': call({ input: apiRequest, output: apiAnswer }),
  /** Server-side apply of one object. A dry run is allowed while the cluster is read-only. */
  'kube.apply': call({ input: applyRequest, output: applyResult }),
  /** The schemas of one group version (`api/v1`, `apis/apps/v1`). */
  'kube.openapi': call({
    input: v.object({ cluster: clusterRef, path: v.pipe(v.string(), v.maxLength(512)) }),
    output: openApiSchemas,
  }),
  'kube.logs': stream({ input: logQuery, item: logItem, batchItemsMax: 4 }),
  /** A command in a container, on a terminal; refused while the cluster is read-only. */
  'kube.exec': stream({ input: execQuery, item: execItem, batchItemsMax: 64 }),
  'kube.execInput': call({ input: execInput, output: v.undefined_() }),

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
