import * as v from 'valibot';
import { said } from '../sentences/said.ts';

export const appInfo = v.object({
  version: v.string(),
  /** Where this console runs: the desktop app, or a browser on `pilothouse serve`. */
  shell: v.picklist(['desktop', 'browser']),
  platform: v.string(),
  arch: v.string(),
  nodeVersion: v.string(),
  electronVersion: v.nullable(v.string()),
  chromeVersion: v.nullable(v.string()),
  dataDirectory: v.string(),
  startedAtMs: v.number(),
});
export type AppInfo = v.InferOutput<typeof appInfo>;

/** Releases newer than this one, newest first. Nothing is installed: a person downloads what they choose. */
export const updateReport = v.object({
  state: v.picklist(['off', 'current', 'available']),
  current: v.string(),
  releases: v.array(
    v.object({
      version: v.string(),
      date: v.string(),
      /** Markdown. */
      notes: v.string(),
      /** For this platform. */
      files: v.array(v.object({ url: v.string(), sha256: v.string(), bytes: v.number() })),
    }),
  ),
});
export type UpdateReport = v.InferOutput<typeof updateReport>;

/** One process of the application at one moment. */
export const processSample = v.object({
  pid: v.number(),
  /** main, renderer, gpu, utility, host */
  role: v.string(),
  name: v.string(),
  cpuPercent: v.number(),
  memoryBytes: v.number(),
});
export type ProcessSample = v.InferOutput<typeof processSample>;

/** Live for who looks at nothing else, calm for a figure at the edge of the window. */
export const VITALS_PACES_SECONDS = [1, 5] as const;
export type VitalsPaceSeconds = (typeof VITALS_PACES_SECONDS)[number];

export const processVitals = v.object({
  atMs: v.number(),
  /** How late timers of the host process fire, worst since the last sample. */
  eventLoopDelayMs: v.number(),
  processes: v.array(processSample),
});
export type ProcessVitals = v.InferOutput<typeof processVitals>;

/** The program that a kubeconfig runs to get credentials, as it would be run. */
export const execPlugin = v.object({
  command: v.string(),
  args: v.array(v.string()),
  env: v.array(v.object({ name: v.string(), value: v.string() })),
  /** Names exactly this command line: consent to it is consent to no other. */
  fingerprint: v.string(),
  isAllowed: v.boolean(),
});
export type ExecPlugin = v.InferOutput<typeof execPlugin>;

export const clusterEntry = v.object({
  /** Stable: path and context for a kubeconfig's, the data folder of a local one. */
  id: v.string(),
  name: v.string(),
  origin: v.picklist(['local', 'kubeconfig']),
  server: v.string(),
  user: v.string(),
  namespace: v.string(),
  kubeconfigPath: v.string(),
  readOnly: v.boolean(),
  /** How a cluster of this console's own is; null for one opened from a kubeconfig. */
  local: v.nullable(
    v.object({
      directory: v.string(),
      phase: v.picklist(['stopped', 'preparing', 'starting', 'ready', 'stopping', 'failed']),
      kubernetesVersion: v.string(),
      /** Hosts and components that are down while it runs: `cp-1`, `etcd-cp-2`. Absent where none is. */
      impaired: v.optional(v.array(v.string())),
      /** Created for drills, which break it. */
      isForDrills: v.optional(v.literal(true)),
    }),
  ),
  /** Absent where the kubeconfig runs no program. */
  plugin: v.optional(execPlugin),
});
export type ClusterEntry = v.InferOutput<typeof clusterEntry>;

export const clusterList = v.object({
  clusters: v.array(clusterEntry),
  /** Kubeconfig files that could not be read, with the reason; they stay listed until forgotten. */
  problems: v.array(v.object({ path: v.string(), message: said })),
});
export type ClusterList = v.InferOutput<typeof clusterList>;

/** A kubeconfig in a usual place (`$KUBECONFIG`, `~/.kube`), with what it offers. */
export const foundKubeconfig = v.object({
  path: v.string(),
  contexts: v.array(v.object({ name: v.string(), server: v.string() })),
});
export type FoundKubeconfig = v.InferOutput<typeof foundKubeconfig>;

/**
 * The desktop app asks with its native dialog and takes no path, except one that the person chose before. In a browser
 * there is no such dialog: there the path is typed.
 */
export const kubeconfigChoice = v.object({ path: v.optional(v.pipe(v.string(), v.maxLength(4096))) });
