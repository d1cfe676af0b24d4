import * as v from 'valibot';
import { call, stream, type CallShape, type Schema, type StreamShape } from './shape.ts';
import {
  appInfo,
  clusterList,
  foundKubeconfig,
  kubeconfigChoice,
  processVitals,
  updateReport,
  VITALS_PACES_SECONDS,
} from './schemas/app.ts';
import {
  accessQuestion,
  auditAnswer,
  auditQuery,
  encryptionView,
  flowControlView,
  rulesAnswer,
  rulesQuestion,
  reachAnswer,
  reachQuestion,
  whoCanAnswer,
} from './schemas/guard.ts';
import { drillRequest, drillSummary, DRILLS_MAX, drillView } from './schemas/drill.ts';
import { controllersView } from './schemas/controllers.ts';
import {
  downloadItem,
  downloadQuery,
  folderListing,
  folderQuery,
  uploadChunk,
  uploadItem,
  uploadQuery,
} from './schemas/files.ts';
import { extensionAnswer, extensionList, extensionRead, extensionRef } from './schemas/extension.ts';
import { graphQuery, graphView } from './schemas/graph.ts';
import { clusterAction } from './actions/actions.ts';
import { hardeningWishes } from './actions/hardening-wishes.ts';
import { hardeningPlan } from './schemas/harden.ts';
import { joiningView, nodeInvitation } from './schemas/joining.ts';
import { helmChange, helmChangeReport, helmRelease, helmReleaseQuery, helmReleases } from './schemas/helm.ts';
import {
  historyComparison,
  historyCompareQuery,
  historyContents,
  historyList,
  historyMoments,
  historyObject,
  historyObjectQuery,
  historyQuery,
  historyVersions,
  historyVersionsQuery,
  momentOf,
  restoreRequest,
  restoreStep,
} from './schemas/history.ts';
import {
  apiAnswer,
  apiRequest,
  applyRequest,
  applyResult,
  clusterRef,
  execInput,
  execItem,
  execQuery,
  foundItem,
  kubeDiscovery,
  logItem,
  logQuery,
  objectItem,
  objectRef,
  openApiSchemas,
  tableItem,
  tableQuery,
} from './schemas/kube.ts';
import { etcdAuth, etcdHashes, etcdLocks } from './schemas/etcd-inspection.ts';
import {
  actionPreview,
  flagsDiff,
  flagsRequest,
  clusterDefaults,
  clusterWishes,
  localClusterState,
  operation,
  OPERATIONS_MAX,
} from './schemas/local-cluster.ts';
import {
  leasesView,
  admissionFigures,
  ADMISSION_FIGURES_MAX,
  metricsAnswer,
  metricsHealth,
  metricsQuery,
  portForward,
  requestTrace,
  schedulingView,
  TRACES_MAX,
} from './schemas/monitor.ts';
import { notification } from './schemas/notification.ts';
import {
  backups,
  backupSchedule,
  certificateView,
  etcdEvent,
  etcdView,
  finding,
  snapshotComparison,
  TIMELINE_EVENTS_MAX,
  upgradePlan,
} from './schemas/operations.ts';
import { settings, settingsPatch } from './schemas/settings.ts';
import { timelineItem } from './schemas/timeline.ts';
import { signInState } from './schemas/sign-in.ts';

const ofCluster = v.object({ cluster: clusterRef });
const filePath = v.pipe(v.string(), v.maxLength(4096));
const PORT_MAX = 65_535;
const POD_TEXT_CHARACTERS_MAX = 256 * 1024;

/**
 * Everything the console and its host process say to each other. Preload bridge, dispatcher, renderer
 * client, test fake and the WebSocket of `serve` derive from this map; nothing else crosses.
 */
export const contract = {
  /** Versions, platform and paths of this installation. */
  'app.info': call({ input: v.undefined_(), output: appInfo }),
  /** CPU and memory of the application's own processes, at the pace asked for, while a page shows it. */
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

  /** Asks the feed of the settings now. */
  'updates.check': call({ input: v.undefined_(), output: updateReport }),
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
  /** Kubeconfigs in the usual places that are not open yet. They are offered, not opened. */
  'clusters.found': call({ input: v.undefined_(), output: v.array(foundKubeconfig) }),
  'clusters.forget': call({
    input: v.object({ id: v.pipe(v.string(), v.maxLength(512)) }),
    output: clusterList,
  }),

  /** Until the host ends: clusters opened from a kubeconfig start read-only each time. */
  'clusters.setReadOnly': call({
    input: v.object({ id: clusterRef, readOnly: v.boolean() }),
    output: clusterList,
  }),

  /** Consents to the program that the kubeconfig of a cluster runs, shown to the person as this command line. */
  'clusters.allowPlugin': call({
    input: v.object({ id: clusterRef, fingerprint: v.pipe(v.string(), v.maxLength(128)) }),
    output: clusterList,
  }),

  'clusters.defaults': call({ input: v.undefined_(), output: clusterDefaults }),
  /** Makes a cluster of this console's own and starts it; answers when it is listed, which is before it is ready. */
  'clusters.create': call({ input: clusterWishes, output: v.object({ cluster: clusterRef }) }),
  /** Resolves when the start or the stop has begun; `cluster.state` tells the rest. */
  'clusters.start': call({ input: ofCluster, output: v.undefined_() }),
  'clusters.stop': call({ input: ofCluster, output: v.undefined_() }),
  /** Stops a local cluster and deletes its folder, for good. */
  'clusters.delete': call({ input: ofCluster, output: clusterList }),

  /** A cluster of this console's own: now, and again after every change. */
  'cluster.state': stream({ input: ofCluster, item: localClusterState, batchItemsMax: 4 }),
  /** What an action would do to quorum, leaders and pods as things stand. */
  'cluster.preview': call({
    input: v.object({ cluster: clusterRef, action: clusterAction }),
    output: actionPreview,
  }),
  /** The manifests that `component.flags` would change, before and after. */
  'component.flagsDiff': call({
    input: v.object({ cluster: clusterRef, ...flagsRequest.entries }),
    output: flagsDiff,
  }),
  /** Begins an operation; `cluster.operations` tells how it goes. Refused while the cluster is read-only. */
  'cluster.act': call({
    input: v.object({ cluster: clusterRef, action: clusterAction }),
    output: v.object({ operation: v.string() }),
  }),
  /** The newest operations, newest first: now, and again after every change. */
  'cluster.operations': stream({
    input: ofCluster,
    item: v.pipe(v.array(operation), v.maxLength(OPERATIONS_MAX)),
    batchItemsMax: 4,
  }),
  /** After the step that runs; a paused one continues with `isPaused: false`. */
  'cluster.pauseOperation': call({
    input: v.object({ cluster: clusterRef, operation: v.string(), isPaused: v.boolean() }),
    output: v.undefined_(),
  }),

  /** The members of etcd, once a second while a page shows it. */
  'etcd.members': stream({ input: ofCluster, item: etcdView, batchItemsMax: 4 }),
  /** Terms, elections and members that came and went: all that is remembered, again after every change. */
  'etcd.timeline': stream({
    input: ofCluster,
    item: v.pipe(v.array(etcdEvent), v.maxLength(TIMELINE_EVENTS_MAX)),
    batchItemsMax: 4,
  }),
  /**
   * What was recorded of a cluster of this console's own, oldest first, then every change. Recorded by the process that
   * runs the cluster, looked at or not.
   */
  'timeline.watch': stream({ input: ofCluster, item: timelineItem, batchItemsMax: 4 }),
  /** Asks every member for the hash of its keys at one revision. */
  'etcd.hashes': call({ input: ofCluster, output: etcdHashes }),
  'etcd.locks': call({ input: ofCluster, output: etcdLocks }),
  'etcd.auth': call({ input: ofCluster, output: etcdAuth }),
  'backups.watch': stream({ input: ofCluster, item: backups, batchItemsMax: 4 }),
  'backups.schedule': call({
    input: v.object({ cluster: clusterRef, schedule: backupSchedule }),
    output: backupSchedule,
  }),
  /** Names a snapshot file outside `backups/`: by the native dialog of the app, or typed in a browser. */
  'backups.choose': call({
    input: v.object({ path: v.optional(filePath) }),
    output: v.object({ file: filePath }),
  }),
  /**
   * Checks a snapshot file page by page and lays it beside what is stored now. Only files in `backups/` and those that
   * `backups.choose` named are read, here and by `snapshot.restore`.
   */
  'backups.compare': call({
    input: v.object({ cluster: clusterRef, file: filePath }),
    output: snapshotComparison,
  }),
  /** Folders of extensions in the data directory of this console, those that cannot be used with the reason. */
  'extensions.list': call({ input: v.undefined_(), output: extensionList }),
  /** Consents to an extension, exactly as its files are now. */
  'extensions.allow': call({ input: extensionRef, output: extensionList }),
  'extensions.revoke': call({ input: v.object({ name: v.string() }), output: extensionList }),
  /** A read for the page of an extension: as the person, and only what the person has consented to. */
  'extensions.read': call({ input: extensionRead, output: extensionAnswer }),
  /** The drills that come with Pilothouse. */
  'drills.list': call({
    input: v.undefined_(),
    output: v.pipe(v.array(drillSummary), v.maxLength(DRILLS_MAX)),
  }),
  /** The drill of a cluster now, and again after every change, while a page shows it. */
  'drills.watch': stream({ input: ofCluster, item: drillView, batchItemsMax: 4 }),
  'drills.request': call({
    input: v.object({ cluster: clusterRef, request: drillRequest }),
    output: drillView,
  }),
  /** The parts of an application and how they relate: now, and again after changes. Broken relations carry their reason. */
  'graph.watch': stream({ input: graphQuery, item: graphView, batchItemsMax: 2 }),
  /** What machines that join would find, and the nodes that there are. */
  'nodes.joining': call({ input: ofCluster, output: joiningView }),
  /** Creates a bootstrap token, with the command line for the machine that is to join. */
  'nodes.invite': call({ input: ofCluster, output: nodeInvitation }),
  /** The newest revision of every Helm release that the person may read. */
  'helm.releases': call({ input: ofCluster, output: helmReleases }),
  /** One revision with values, notes, history and the health of its objects. */
  'helm.release': call({ input: helmReleaseQuery, output: helmRelease }),
  /** Rolls a release back or uninstalls it. A dry run is allowed while the cluster is read-only. */
  'helm.change': call({ input: helmChange, output: helmChangeReport }),
  /** How far back this cluster can be read: revisions of etcd and snapshots. */
  'history.moments': call({ input: ofCluster, output: historyMoments }),
  /** Every known version of one object, and who wrote it. */
  'history.versions': call({ input: historyVersionsQuery, output: historyVersions }),
  /** How many objects of each resource were stored at a moment. */
  'history.contents': call({ input: momentOf, output: historyContents }),
  'history.list': call({ input: historyQuery, output: historyList }),
  'history.object': call({ input: historyObjectQuery, output: historyObject }),
  /** What changed between two moments of a cluster. */
  'history.compare': call({ input: historyCompareQuery, output: historyComparison }),
  /**
   * Brings objects of another moment back, one after the other, as the person; closing it stops before the next one. A dry run is
   * allowed while the cluster is read-only.
   */
  'history.restore': stream({ input: restoreRequest, item: restoreStep, batchItemsMax: 4 }),
  'upgrade.plan': call({
    input: v.object({ cluster: clusterRef, version: v.nullable(v.string()) }),
    output: upgradePlan,
  }),
  /** What hardening would change, as a diff of files. */
  'harden.plan': call({
    input: v.object({ cluster: clusterRef, wishes: hardeningWishes }),
    output: hardeningPlan,
  }),
  /** Every certificate on disk, and what servers present. */
  'certificates.list': call({ input: ofCluster, output: v.array(certificateView) }),
  /** What is wrong with a cluster and why; of one that is not ours as far as its API tells. */
  'doctor.examine': call({
    input: ofCluster,
    output: v.object({ findings: v.array(finding), gaps: v.array(v.string()) }),
  }),
  /** Null where people do not sign in to the cluster through a browser. */
  'signIn.state': call({ input: ofCluster, output: v.nullable(signInState) }),
  /** Begins a sign-in and answers once its page is known; the state tells how it continues. */
  'signIn.begin': call({ input: ofCluster, output: signInState }),
  /** Ends a sign-in in progress, and forgets the tokens. */
  'signIn.end': call({ input: ofCluster, output: signInState }),
  /** The production checklist, measured now. */
  'cluster.checks': call({ input: ofCluster, output: v.array(finding) }),

  /** What API servers have recorded about requests, newest first. Clusters hosted by this console only. */
  'audit.events': call({ input: auditQuery, output: auditAnswer }),
  /** Which subjects of role bindings the server's own authorizer lets do something. */
  'access.whoCan': call({ input: accessQuestion, output: whoCanAnswer }),
  /** Whether NetworkPolicies let one pod connect to another, and which of them decide. */
  'access.reach': call({ input: reachQuestion, output: reachAnswer }),
  /** What the server's own authorizer lets a subject do in a namespace. */
  'access.rules': call({ input: rulesQuestion, output: rulesAnswer }),
  /** Priority levels and flow schemas with what they do now. */
  'flowcontrol.view': call({ input: ofCluster, output: flowControlView }),
  /** The encryption configuration without its secrets. */
  'encryption.view': call({ input: ofCluster, output: encryptionView }),

  /** Controllers of the managers that lead: queues, newest turns, what fails. Of a foreign cluster: who leads, and why no more. */
  'controllers.view': call({ input: ofCluster, output: controllersView }),
  /** Every Lease with the history of its holders; of any cluster. At most once a second. */
  'leases.watch': stream({ input: ofCluster, item: leasesView, batchItemsMax: 4 }),
  'metrics.query': call({ input: metricsQuery, output: metricsAnswer }),
  /** The critical figures and the targets of the sampler, after every sample. */
  'metrics.health': stream({ input: ofCluster, item: metricsHealth, batchItemsMax: 4 }),
  /** The newest requests of every API server, newest first, that contain `filter` in path or user. */
  'xray.requests': call({
    input: v.object({
      cluster: clusterRef,
      filter: v.pipe(v.string(), v.maxLength(512)),
      auditId: v.nullable(v.pipe(v.string(), v.maxLength(128))),
    }),
    output: v.pipe(v.array(requestTrace), v.maxLength(TRACES_MAX)),
  }),
  /** What webhooks and policies did since the API servers started. */
  'xray.admission': call({
    input: ofCluster,
    output: v.pipe(v.array(admissionFigures), v.maxLength(ADMISSION_FIGURES_MAX)),
  }),
  /** The newest attempts of the scheduler for a pod, newest first. */
  'xray.scheduling': call({
    input: v.object({ cluster: clusterRef, namespace: v.string(), pod: v.string() }),
    output: v.pipe(v.array(schedulingView), v.maxLength(32)),
  }),
  /** Where the scheduler would put a pod, given as YAML or JSON; nothing is stored. */
  'xray.whatIf': call({
    input: v.object({ cluster: clusterRef, pod: v.pipe(v.string(), v.maxLength(POD_TEXT_CHARACTERS_MAX)) }),
    output: schedulingView,
  }),

  /** Listens on loopback until it is closed or the host ends. */
  'forwards.open': call({
    input: v.object({
      cluster: clusterRef,
      namespace: v.string(),
      pod: v.string(),
      remotePort: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(PORT_MAX)),
      /** Zero: a free one. */
      localPort: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(PORT_MAX)),
    }),
    output: portForward,
  }),
  'forwards.close': call({ input: v.object({ id: v.string() }), output: v.undefined_() }),
  'forwards.watch': stream({ input: v.undefined_(), item: v.array(portForward), batchItemsMax: 4 }),

  /** What the server offers; `isFresh` asks it again. */
  'kube.discovery': call({
    input: v.object({ cluster: clusterRef, isFresh: v.boolean() }),
    output: kubeDiscovery,
  }),
  /** A list with the server's own columns, live by watch. Changes are gathered, so that rows come in bursts. */
  'kube.table': stream({ input: tableQuery, item: tableItem, batchItemsMax: 8 }),
  /** Names, kinds, labels and addresses of all objects, live; asked for only while a search is open. */
  'kube.search': stream({ input: v.object({ cluster: clusterRef }), item: foundItem, batchItemsMax: 8 }),
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

  /** What is in a folder of a container. Like all of `files`, it runs a program there: refused while read-only. */
  'files.list': call({ input: folderQuery, output: folderListing }),
  /** A file as it is, or a folder as a tar archive. */
  'files.download': stream({ input: downloadQuery, item: downloadItem, batchItemsMax: 1 }),
  /** Writes one file, whose bytes `files.chunk` brings in order; closing the stream ends it. */
  'files.upload': stream({ input: uploadQuery, item: uploadItem, batchItemsMax: 4 }),
  /** Answers when there is room for the next chunk. */
  'files.chunk': call({ input: uploadChunk, output: v.undefined_() }),

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
