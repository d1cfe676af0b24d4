import type { V1ContainerPort } from '../../../../api/schema/index.ts';
import type { Connecting, ConnectionJudge, Judgement } from '../../../../network-policy/index.ts';
import type { VolumeFile } from '../../../volumes/pod-volumes.ts';
import type { RuntimeReason, TerminalSize } from '../../runtime.ts';
import type { ClusterDnsPlaces, ShellUser } from '../shell/process.ts';

/** What a container looks like from inside, and who answers on its ports. Plain data: it crosses a thread. */
export interface ContainerFacts {
  /** The identity between both sides; never used twice. */
  readonly ordinal: number;
  readonly podUid: string;
  readonly podName: string;
  readonly namespace: string;
  readonly nodeName: string;
  readonly containerName: string;
  readonly revision: string | undefined;
  readonly podIP: string;
  readonly hostIP: string;
  readonly isControlPlane: boolean;
  readonly hostname: string;
  readonly user: ShellUser;
  readonly isReadOnlyRoot: boolean;
  /** The file whose content becomes the termination message. */
  readonly messagePath: string;
  readonly workingDirectory: string;
  /** The command line of process 1. */
  readonly init: string;
  /** Requests are answered with 503 for so long. */
  readonly notReadyMs: number;
  /** Ranges that its commands may connect to. */
  readonly networks: readonly string[];
  readonly dns: ClusterDnsPlaces | undefined;
  /** Files of the image. */
  readonly files: ReadonlyMap<string, string>;
}

/** A volume as a container has it mounted. `files` are those of a read-only volume; a scratch volume is the pod's. */
export interface MountedVolume {
  readonly path: string;
  readonly volume: string;
  readonly subPath: string;
  readonly isReadOnly: boolean;
  readonly files: ReadonlyMap<string, VolumeFile> | undefined;
  readonly top: { readonly mode: number; readonly gid: number };
}

/** What a command starts with. */
export interface CommandStart {
  readonly argv: readonly string[];
  readonly environment: ReadonlyMap<string, string>;
  readonly mounts: readonly MountedVolume[];
}

export interface OpenedPorts {
  readonly bound: readonly number[];
  /** Open inside the process alone. */
  readonly unbound: readonly number[];
}

/** Bytes between the two sides, each chunk acknowledged before the next one is sent. */
export type StreamMessage =
  | { readonly kind: 'data'; readonly stream: number; readonly chunk: Uint8Array }
  | { readonly kind: 'ack'; readonly stream: number }
  | { readonly kind: 'end'; readonly stream: number }
  | { readonly kind: 'close'; readonly stream: number };

/** Answered by `answer` with the same `request`. */
export type ContentRequest =
  | { readonly ask: 'understands'; readonly argv: readonly string[] }
  | { readonly ask: 'open'; readonly container: number; readonly ports: readonly V1ContainerPort[] }
  | ({ readonly ask: 'run'; readonly container: number } & CommandStart)
  | ({
      readonly ask: 'exec';
      readonly container: number;
      readonly session: number;
      readonly tty: boolean;
      readonly hasStdin: boolean;
      /** Standard input and output, and standard error where it is apart. */
      readonly stream: number;
      readonly errorStream: number | undefined;
    } & CommandStart)
  /** Answered with a `SignalFate`. */
  | { readonly ask: 'signal'; readonly container: number; readonly name: string }
  | { readonly ask: 'dial'; readonly container: number; readonly port: number; readonly stream: number };

export type { Connecting, ConnectionJudge, Judgement };

export type ToContent =
  | StreamMessage
  | { readonly kind: 'create'; readonly facts: ContainerFacts }
  | { readonly kind: 'request'; readonly request: number; readonly body: ContentRequest }
  | { readonly kind: 'resize'; readonly session: number; readonly size: TerminalSize }
  | { readonly kind: 'kill'; readonly session: number }
  /** Ends everything of a container: program, sessions, ports, files. */
  | { readonly kind: 'remove'; readonly container: number }
  /** Ends the volumes of a pod. */
  | { readonly kind: 'forget'; readonly podUid: string }
  | { readonly kind: 'ping'; readonly id: number }
  /** Whether connections must be asked about; they must until this says otherwise. */
  | { readonly kind: 'policed'; readonly isPoliced: boolean }
  | { readonly kind: 'judged'; readonly id: number; readonly judgement: Judgement };

export interface ContentFailure {
  readonly reason: RuntimeReason;
  readonly message: string;
}

export interface ProgramExit {
  readonly code: number;
  /** Its termination message; empty without one. */
  readonly message: string;
}

export interface LogEntry {
  readonly container: number;
  readonly stream: 'stdout' | 'stderr';
  readonly text: string;
}

export type FromContent =
  | StreamMessage
  | { readonly kind: 'answer'; readonly request: number; readonly result: unknown }
  | { readonly kind: 'failed'; readonly request: number; readonly failure: ContentFailure }
  | { readonly kind: 'log'; readonly entries: readonly LogEntry[] }
  /** The program of a container has ended. */
  | ({ readonly kind: 'exit'; readonly container: number } & ProgramExit)
  | { readonly kind: 'session-exit'; readonly session: number; readonly code: number }
  | { readonly kind: 'pong'; readonly id: number }
  /** Answered by `judged` with the same `id`. */
  | { readonly kind: 'judge'; readonly id: number; readonly connection: Connecting };
