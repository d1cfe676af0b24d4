import type { Duplex, Readable, Writable } from 'node:stream';
import { ReasonError } from '../../base/errors.ts';
import type { V1Container, V1Pod, V1Probe } from '../../api/schema/index.ts';
import type { PodDns } from '../dns/pod-dns.ts';
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
  /** The network and the shared state of a pod. Failures are RuntimeError `SandboxFailed`. */
  createSandbox(request: SandboxRequest): Promise<Sandbox>;
  /** The reference of an image that is on the node already. */
  findImage(image: string): ImageInfo | undefined;
  /** Failures are RuntimeError `ErrImagePull` or `InvalidImageName`. */
  pullImage(request: PullRequest): Promise<ImageInfo>;
  /** Images on the node, for the node's status. */
  images(): readonly ImageInfo[];
  /** A readiness probe for a container that declares none; undefined leaves it ready as soon as it runs. */
  impliedReadiness?(pod: V1Pod, container: V1Container): V1Probe | undefined;
}

export interface ImageInfo {
  readonly image: string;
  /** `<repository>@sha256:<digest>` */
  readonly imageID: string;
  readonly sizeBytes: number;
}

export interface PullRequest {
  readonly pod: V1Pod;
  readonly container: V1Container;
  readonly image: string;
  /** The pod is going: what takes time may be given up. */
  readonly signal: AbortSignal;
}

export interface SandboxRequest {
  readonly pod: V1Pod;
  readonly nodeName: string;
  readonly hostIP: string;
  /** How the pod resolves names. */
  readonly dns: PodDns;
  /** Empty: the cluster has none. */
  readonly clusterDomain: string;
  /** An address that the pod had before the kubelet restarted, kept when it is still free. */
  readonly preferredIP?: string;
}

export interface Sandbox {
  readonly podIPs: readonly string[];
  /** Failures are RuntimeError `CreateContainerError` or `RunContainerError`. */
  startContainer(request: ContainerRequest): Promise<RunningContainer>;
  /** A connection to a port of the pod, for port-forward. */
  dial(port: number): Promise<Duplex>;
  /** Frees the address; every container has exited before. */
  remove(): Promise<void>;
}

export interface ContainerRequest {
  readonly pod: V1Pod;
  readonly container: V1Container;
  readonly kind: ContainerKind;
  readonly image: ImageInfo;
  readonly environment: ReadonlyMap<string, string>;
  readonly volumes: PodVolumes;
  /** 0 for the first start. */
  readonly attempt: number;
  /** The pod is going: a start that takes time may be given up. */
  readonly signal: AbortSignal;
}

export type ContainerKind = 'init' | 'sidecar' | 'main' | 'ephemeral';

export interface ContainerExit {
  readonly exitCode: number;
  readonly signal?: number;
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
  usage(): ContainerUsage;
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

export const isRuntimeError = (error: unknown): error is RuntimeError => error instanceof RuntimeError;
