import type { Duplex, Readable, Writable } from 'node:stream';
import { ReasonError } from '../../base/errors.ts';
import type { V1Container, V1Pod, V1Probe } from '../../api/schema/index.ts';
import type { PodDns } from '../dns/pod-dns.ts';
import type { PressureSource } from '../eviction/eviction-manager.ts';
import type { ImageCredential } from '../images/pull-secrets.ts';
import type { PodVolumes } from '../volumes/pod-volumes.ts';
import type { ContainerLog } from './container-log.ts';

/**
 * What the kubelet asks of whatever runs containers. The shape follows the CRI (sandbox, image, container), so
 * that the simulated runtime, the component runtime and a real one stand behind the same pod worker.
 */
export interface Runtime {
  /** As in `status.nodeInfo.containerRuntimeVersion`, `<name>://<version>`. */
  readonly name: string;
  readonly version: string;
  /** Containers outlive the kubelet: it leaves them running when it stops, and the next one adopts them. */
  readonly isDurable: boolean;
  /** The network and the shared state of a pod. Failures are RuntimeError `SandboxFailed` or VolumeError. */
  createSandbox(request: SandboxRequest): Promise<Sandbox>;
  /** The sandbox that an earlier kubelet created for this pod and that still runs, with all its containers. */
  adoptSandbox(request: SandboxRequest): Promise<AdoptedSandbox | undefined>;
  /** Pods of this node that the runtime holds something of. Empty where nothing outlives the kubelet. */
  heldPods(): Promise<readonly HeldPod[]>;
  /** Stops what runs of a pod and removes all that is left of it: containers, sandboxes, logs and files. */
  removePod(uid: string): Promise<void>;
  /** The reference of an image that is on the node already. */
  findImage(image: string): Promise<ImageInfo | undefined>;
  /** Failures are RuntimeError `ErrImagePull` or `InvalidImageName`. */
  pullImage(request: PullRequest): Promise<ImageInfo>;
  /** Images on the node, for the node's status. */
  images(): Promise<readonly ImageInfo[]>;
  /** Usage of containers of this runtime, in one request for all; those that have exited may be missing. */
  usage(containers: readonly RunningContainer[]): Promise<ReadonlyMap<RunningContainer, ContainerUsage>>;
  /** Removes unused images while their disk is too full; absent: images take no space. */
  collectImages?(): Promise<CollectedImages>;
  /** What runs out on its machine; nothing ever does without it. */
  readonly pressure?: PressureSource;
  /** Why nothing can be started now, in upstream's words for the condition `Ready`; always ready without it. */
  problem?(): Promise<string | undefined>;
  /** A readiness probe for a container that declares none; undefined leaves it ready as soon as it runs. */
  impliedReadiness?(pod: V1Pod, container: V1Container): V1Probe | undefined;
}

/** What a runtime that forgets everything with its process answers to questions about earlier kubelets. */
export const NOTHING_HELD = {
  isDurable: false,
  adoptSandbox: (): Promise<undefined> => Promise.resolve(undefined),
  heldPods: (): Promise<readonly HeldPod[]> => Promise.resolve([]),
  removePod: (): Promise<void> => Promise.resolve(),
} as const;

export interface HeldPod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

export interface ImageInfo {
  readonly image: string;
  /** `<repository>@sha256:<digest>` */
  readonly imageID: string;
  readonly sizeBytes: number;
}

export interface CollectedImages {
  /** 0: the disk has space enough. */
  readonly wantedBytes: number;
  readonly freedBytes: number;
}

export interface PullRequest {
  readonly pod: V1Pod;
  readonly container: V1Container;
  readonly image: string;
  /** Of the pod's Secrets for this image, tried in turn. */
  readonly credentials?: readonly ImageCredential[];
  /** The pod is going: what takes time may be given up. */
  readonly signal: AbortSignal;
}

export interface SandboxRequest {
  readonly pod: V1Pod;
  readonly nodeName: string;
  /** Of its RuntimeClass; the runtime's default without it. */
  readonly runtimeHandler?: string;
  readonly hostIP: string;
  /** How the pod resolves names. */
  readonly dns: PodDns;
  /** Empty: the cluster has none. */
  readonly clusterDomain: string;
  readonly volumes: PodVolumes;
  /** 0 for the first sandbox of the pod. */
  readonly attempt: number;
  /** An address that the pod had before the kubelet restarted, kept when it is still free. */
  readonly preferredIP?: string;
}

export interface Sandbox {
  readonly podIPs: readonly string[];
  /** It has ended although no one stopped it. Called at most once; never where a sandbox cannot end on its own. */
  onEnd(listener: () => void): void;
  /** Failures are RuntimeError `CreateContainerError` or `RunContainerError`. */
  startContainer(request: ContainerRequest): Promise<RunningContainer>;
  /** A connection to a port of the pod, for port-forward. */
  dial(port: number): Promise<Duplex>;
  /** Frees the address; every container has exited before. Logs stay until the pod is removed. */
  stop(): Promise<void>;
}

export interface AdoptedSandbox {
  readonly sandbox: Sandbox;
  /** The newest start of each container, running or exited. */
  readonly containers: readonly AdoptedContainer[];
}

export interface AdoptedContainer {
  /** Of the container in the pod. */
  readonly name: string;
  readonly attempt: number;
  readonly container: RunningContainer;
  /** As the pod named it when it was started. */
  readonly image: string;
  readonly imageID: string;
  readonly startedMs: number;
  readonly exit: (ContainerExit & { readonly finishedMs: number }) | undefined;
  /** The start before it. */
  readonly previous: AdoptedContainer | undefined;
}

export interface ContainerRequest {
  readonly pod: V1Pod;
  readonly container: V1Container;
  readonly kind: ContainerKind;
  readonly image: ImageInfo;
  readonly environment: ReadonlyMap<string, string>;
  /** 0 for the first start. */
  readonly attempt: number;
  /** The pod is going: a start that takes time may be given up. */
  readonly signal: AbortSignal;
}

export type ContainerKind = 'init' | 'sidecar' | 'main' | 'ephemeral';

export interface ContainerExit {
  readonly exitCode: number;
  readonly signal?: number;
  /** When the runtime says it; else it is the time at which the kubelet heard of it. */
  readonly finishedMs?: number;
  /** `Completed`, `Error`, `OOMKilled`, `ContainerCannotRun`. */
  readonly reason: string;
  readonly message?: string;
  /** Told as a warning about the pod: the end came from outside the container. */
  readonly event?: { readonly reason: string; readonly message: string };
}

export interface ContainerUsage {
  readonly cpuNanoCores: number;
  readonly cpuCoreNanoSeconds: number;
  readonly memoryBytes: number;
}

export interface TerminalSize {
  readonly Width: number;
  readonly Height: number;
}

export interface ExecRequest {
  readonly command: readonly string[];
  readonly tty: boolean;
  readonly stdin?: Readable;
  readonly stdout?: Writable;
  /** Absent with a terminal: it has one output. */
  readonly stderr?: Writable;
}

export interface ExecSession {
  /** Resolves once, after all output was written. */
  readonly exitCode: Promise<number>;
  resize(size: TerminalSize): void;
  kill(): void;
}

export interface CommandRequest {
  readonly command: readonly string[];
  readonly timeoutMs: number;
  /** More output is dropped. */
  readonly outputBytesMax: number;
}

export interface CommandResult {
  /** Undefined: it took too long and was killed. */
  readonly exitCode: number | undefined;
  readonly output: string;
}

export type ProbeKind = 'startup' | 'liveness' | 'readiness';

export interface ProbeAnswer {
  readonly ok: boolean;
  readonly output: string;
}

/** A container from its start to its exit. */
export interface RunningContainer {
  /** `<runtime>://<id>` */
  readonly id: string;
  readonly log: ContainerLog;
  /** Each listener is called once, in the order they were added, also when it has exited already. */
  onExit(listener: (exit: ContainerExit) => void): void;
  /** SIGTERM, then SIGKILL after `graceMs`. A second call may only shorten the time. */
  stop(graceMs: number): void;
  /** RuntimeError `ExecFailed` when the command cannot be run at all. */
  exec(request: ExecRequest): Promise<ExecSession>;
  /** The streams of the container's own process. */
  attach(request: Omit<ExecRequest, 'command'>): Promise<ExecSession>;
  /** Runs a command to its end, for probes and hooks. RuntimeError `ExecFailed` when it cannot be run at all. */
  run(request: CommandRequest): Promise<CommandResult>;
  /** Runs on with the resources of this container. Rejects when the runtime refuses. */
  resize(pod: V1Pod, container: V1Container): Promise<void>;
  /** The container's own word on a probe; undefined when the kubelet has to look for itself over the network. */
  answerProbe?(kind: ProbeKind, probe: V1Probe): ProbeAnswer | undefined;
}

export type RuntimeReason =
  | 'SandboxFailed'
  | 'ErrImagePull'
  | 'InvalidImageName'
  | 'CreateContainerError'
  | 'RunContainerError'
  | 'ExecFailed'
  | 'NotSupported';

export class RuntimeError extends ReasonError<RuntimeReason> {
  override readonly name = 'RuntimeError';
}

/** The container was made and its process could not be started: it has exited, with the runtime's code and message. */
export class NotStarted extends RuntimeError {
  readonly container: RunningContainer;

  constructor(message: string, container: RunningContainer, options: ErrorOptions) {
    super('RunContainerError', message, options);
    this.container = container;
  }
}

export const isRuntimeError = (error: unknown): error is RuntimeError => error instanceof RuntimeError;
