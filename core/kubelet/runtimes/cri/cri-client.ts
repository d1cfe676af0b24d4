import { connect as connectSocket } from 'node:net';
import { messageOf, ReasonError } from '../../../base/errors.ts';
import { CODE, codeName } from '../../../base/node/grpc/codes.ts';
import { openGrpcSession, type GrpcSession } from '../../../base/node/grpc/session.ts';
import { unaryCall } from '../../../base/node/grpc/unary-call.ts';
import { MessageWriter } from '../../../base/node/protobuf/message-writer.ts';
import { readMessage, type Message } from '../../../base/node/protobuf/read-message.ts';
import {
  readContainer,
  readContainerStatus,
  readImage,
  readPodUsage,
  readSandbox,
  readSandboxAddresses,
  writeContainerConfig,
  writeResources,
  writeSandboxConfig,
  type ContainerConfig,
  type ContainerStatus,
  type CriImage,
  type CriPodUsage,
  type FoundContainer,
  type FoundSandbox,
  type LinuxResources,
  type SandboxConfig,
} from './messages.ts';

/** `Timeout`: the runtime took too long; `NotFound`, `Unimplemented`, `Unavailable`: gRPC's codes of that name. */
export type CriReason = 'Timeout' | 'NotFound' | 'Unimplemented' | 'Unavailable' | 'Failed';

/** The message is the runtime's own, as gRPC's clients in Go write it. */
export class CriError extends ReasonError<CriReason> {
  override readonly name = 'CriError';
}

export const isCriNotFound = (error: unknown): boolean =>
  error instanceof CriError && error.reason === 'NotFound';

export interface CriVersion {
  readonly name: string;
  readonly version: string;
  /** `v1` */
  readonly api: string;
}

export interface CriUsage {
  readonly cpuCoreNanoSeconds: number;
  /** 0 where the runtime does not say. */
  readonly cpuNanoCores: number;
  readonly memoryBytes: number;
}

export interface ImageAuth {
  readonly username: string;
  readonly password: string;
  readonly auth: string;
  readonly serverAddress: string;
  readonly identityToken: string;
}

export interface CriStatus {
  /** As upstream writes it: `RuntimeReady=false reason:... message:...`. */
  readonly runtimeProblem: string | undefined;
  readonly networkProblem: string | undefined;
  /** Of CNI configurations. */
  readonly networkFolder: string;
  /** What sandboxes are made of; empty: the runtime does not say. */
  readonly sandboxImage: string;
}

const NETWORK_FOLDER_DEFAULT = '/etc/cni/net.d';

/** containerd tells its configuration as JSON; of other runtimes the defaults are assumed. */
const settingsOf = (config: string | undefined): Pick<CriStatus, 'networkFolder' | 'sandboxImage'> => {
  let known: { readonly cni?: { readonly confDir?: unknown }; readonly sandboxImage?: unknown } = {};
  try {
    known = JSON.parse(config ?? '{}') as typeof known;
  } catch {
    // Another runtime's words.
  }
  const [folder, image] = [known.cni?.confDir, known.sandboxImage];
  return {
    networkFolder: typeof folder === 'string' && folder !== '' ? folder : NETWORK_FOLDER_DEFAULT,
    sandboxImage: typeof image === 'string' ? image : '',
  };
};

const RUNTIME = '/runtime.v1.RuntimeService/';
const IMAGES = '/runtime.v1.ImageService/';
/** Upstream's runtimeRequestTimeout, and what it gives calls that may take longer. */
export const REQUEST_TIMEOUT_MS = 120_000;
const SANDBOX_TIMEOUT_MS = 240_000;
const PULL_TIMEOUT_MS = 30 * 60_000;
/** As upstream's kubelet bounds an answer of its runtime. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

const REASONS: Readonly<Record<number, CriReason>> = {
  [CODE.DeadlineExceeded]: 'Timeout',
  [CODE.NotFound]: 'NotFound',
  [CODE.Unimplemented]: 'Unimplemented',
  [CODE.Unavailable]: 'Unavailable',
};

const failure = (code: number, text: string, cause?: unknown): CriError =>
  new CriError(REASONS[code] ?? 'Failed', `rpc error: code = ${codeName(code)} desc = ${text}`, { cause });

const message = (): MessageWriter => new MessageWriter();
const id = (value: string): MessageWriter => message().string(1, value);
const byLabels = (labels: Readonly<Record<string, string>>, field: number): MessageWriter =>
  message().message(1, message().texts(field, labels));

interface CallOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** `unix:///run/containerd/containerd.sock`, or the path alone. */
export const socketPathOf = (endpoint: string): string => {
  const path = endpoint.replace(/^unix:\/\//, '');
  if (!path.startsWith('/'))
    throw new ReasonError(
      'Endpoint',
      `container runtime endpoint "${endpoint}" must be unix:///path/to/socket`,
    );
  return path;
};

/** One connection to a container runtime, opened again when it is lost. Every call ends within its time limit. */
export class CriClient {
  readonly #path: string;
  #session: GrpcSession | undefined;
  #isClosed = false;

  constructor(endpoint: string) {
    this.#path = socketPathOf(endpoint);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#isClosed = true;
    this.#session?.close('the kubelet has stopped');
  }

  async version(): Promise<CriVersion> {
    const answer = await this.#call(RUNTIME, 'Version', message().string(1, 'v1'), { timeoutMs: 10_000 });
    return { name: answer.text(2), version: answer.text(3), api: answer.text(4) };
  }

  /** Whether the runtime and its network are ready, and where it looks for the configuration of networks. */
  async status(): Promise<CriStatus> {
    const answer = await this.#call(RUNTIME, 'Status', message().bool(1, true), { timeoutMs: 10_000 });
    const problems = answer
      .message(1)
      .list(1)
      .map(readMessage)
      .filter((condition) => condition.varint(2) === 0)
      .map((condition) => ({
        isNetwork: condition.text(1) === 'NetworkReady',
        text: `${condition.text(1)}=false reason:${condition.text(3)} message:${condition.text(4)}`,
      }));
    const config = answer
      .list(2)
      .map(readMessage)
      .find((entry) => entry.text(1) === 'config');
    return {
      runtimeProblem: problems.find(({ isNetwork }) => !isNetwork)?.text,
      networkProblem: problems.find(({ isNetwork }) => isNetwork)?.text,
      ...settingsOf(config?.text(2)),
    };
  }

  async runSandbox(config: SandboxConfig, handler: string): Promise<string> {
    const request = message().message(1, writeSandboxConfig(config)).string(2, handler);
    return (await this.#call(RUNTIME, 'RunPodSandbox', request, { timeoutMs: SANDBOX_TIMEOUT_MS })).text(1);
  }

  async stopSandbox(sandboxId: string): Promise<void> {
    await this.#call(RUNTIME, 'StopPodSandbox', id(sandboxId), { timeoutMs: SANDBOX_TIMEOUT_MS });
  }

  async removeSandbox(sandboxId: string): Promise<void> {
    await this.#call(RUNTIME, 'RemovePodSandbox', id(sandboxId));
  }

  async sandboxAddresses(sandboxId: string): Promise<readonly string[]> {
    return readSandboxAddresses((await this.#call(RUNTIME, 'PodSandboxStatus', id(sandboxId))).message(1));
  }

  async listSandboxes(labels: Readonly<Record<string, string>>): Promise<readonly FoundSandbox[]> {
    return (await this.#call(RUNTIME, 'ListPodSandbox', byLabels(labels, 3))).list(1).map(readSandbox);
  }

  async createContainer(sandboxId: string, config: ContainerConfig, sandbox: SandboxConfig): Promise<string> {
    const request = id(sandboxId)
      .message(2, writeContainerConfig(config))
      .message(3, writeSandboxConfig(sandbox));
    return (await this.#call(RUNTIME, 'CreateContainer', request)).text(1);
  }

  async updateResources(containerId: string, resources: LinuxResources): Promise<void> {
    const request = id(containerId).message(2, writeResources(resources));
    await this.#call(RUNTIME, 'UpdateContainerResources', request);
  }

  async startContainer(containerId: string): Promise<void> {
    await this.#call(RUNTIME, 'StartContainer', id(containerId));
  }

  async stopContainer(containerId: string, graceSeconds: number): Promise<void> {
    const timeoutMs = REQUEST_TIMEOUT_MS + graceSeconds * 1000;
    await this.#call(RUNTIME, 'StopContainer', id(containerId).integer(2, graceSeconds), { timeoutMs });
  }

  async removeContainer(containerId: string): Promise<void> {
    await this.#call(RUNTIME, 'RemoveContainer', id(containerId));
  }

  async listContainers(labels: Readonly<Record<string, string>>): Promise<readonly FoundContainer[]> {
    return (await this.#call(RUNTIME, 'ListContainers', byLabels(labels, 4))).list(1).map(readContainer);
  }

  async containerStatus(containerId: string): Promise<ContainerStatus> {
    return readContainerStatus((await this.#call(RUNTIME, 'ContainerStatus', id(containerId))).message(1));
  }

  async reopenLog(containerId: string): Promise<void> {
    await this.#call(RUNTIME, 'ReopenContainerLog', id(containerId));
  }

  /** CriError `Timeout` when the command takes longer; the runtime kills it. */
  async execSync(
    containerId: string,
    command: readonly string[],
    timeoutSeconds: number,
  ): Promise<{ readonly exitCode: number; readonly output: Buffer }> {
    const request = id(containerId).strings(2, command).integer(3, timeoutSeconds);
    const timeoutMs = REQUEST_TIMEOUT_MS + timeoutSeconds * 1000;
    const answer = await this.#call(RUNTIME, 'ExecSync', request, { timeoutMs });
    return { exitCode: answer.varint(3), output: Buffer.concat([answer.bytes(1), answer.bytes(2)]) };
  }

  /** Where the streams of a command are served. */
  async execUrl(
    containerId: string,
    command: readonly string[],
    streams: {
      readonly tty: boolean;
      readonly stdin: boolean;
      readonly stdout: boolean;
      readonly stderr: boolean;
    },
  ): Promise<string> {
    const request = id(containerId)
      .strings(2, command)
      .bool(3, streams.tty)
      .bool(4, streams.stdin)
      .bool(5, streams.stdout)
      .bool(6, streams.stderr);
    return (await this.#call(RUNTIME, 'Exec', request)).text(1);
  }

  async attachUrl(
    containerId: string,
    streams: {
      readonly tty: boolean;
      readonly stdin: boolean;
      readonly stdout: boolean;
      readonly stderr: boolean;
    },
  ): Promise<string> {
    const request = id(containerId)
      .bool(2, streams.stdin)
      .bool(3, streams.tty)
      .bool(4, streams.stdout)
      .bool(5, streams.stderr);
    return (await this.#call(RUNTIME, 'Attach', request)).text(1);
  }

  async portForwardUrl(sandboxId: string, port: number): Promise<string> {
    return (await this.#call(RUNTIME, 'PortForward', id(sandboxId).integer(2, port))).text(1);
  }

  /** By container. */
  async usage(labels: Readonly<Record<string, string>>): Promise<ReadonlyMap<string, CriUsage>> {
    const answer = await this.#call(RUNTIME, 'ListContainerStats', byLabels(labels, 3));
    return new Map(
      answer.list(1).map((bytes) => {
        const stats = readMessage(bytes);
        const cpu = stats.message(2);
        const usage = {
          cpuCoreNanoSeconds: cpu.message(2).varint(1),
          cpuNanoCores: cpu.message(3).varint(1),
          memoryBytes: stats.message(3).message(2).varint(1),
        };
        return [stats.message(1).text(1), usage] as const;
      }),
    );
  }

  /** Of every container of these pods: who it is, and what it takes. */
  async podUsage(labels: Readonly<Record<string, string>>): Promise<readonly CriPodUsage[]> {
    const answer = await this.#call(RUNTIME, 'ListContainerStats', byLabels(labels, 3));
    return answer.list(1).map((bytes) => readPodUsage(readMessage(bytes)));
  }

  async image(name: string): Promise<CriImage | undefined> {
    const request = message().message(1, message().string(1, name));
    return readImage((await this.#call(IMAGES, 'ImageStatus', request)).bytes(1));
  }

  async images(): Promise<readonly CriImage[]> {
    const found = (await this.#call(IMAGES, 'ListImages', message())).list(1).map(readImage);
    return found.filter((image) => image !== undefined);
  }

  async removeImage(imageId: string): Promise<void> {
    await this.#call(IMAGES, 'RemoveImage', message().message(1, message().string(1, imageId)));
  }

  /** Where images are on disk; undefined: the runtime does not say. */
  async imageFolder(): Promise<string | undefined> {
    const [filesystem] = (await this.#call(IMAGES, 'ImageFsInfo', message())).list(1).map(readMessage);
    return filesystem?.message(2).text(1) || undefined;
  }

  /** The reference under which the image is there now. */
  async pull(
    name: string,
    auth: ImageAuth | undefined,
    sandbox: SandboxConfig | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const request = message().message(1, message().string(1, name).string(18, name));
    if (auth)
      request.message(
        2,
        message()
          .string(1, auth.username)
          .string(2, auth.password)
          .string(3, auth.auth)
          .string(4, auth.serverAddress)
          .string(5, auth.identityToken),
      );
    if (sandbox) request.message(3, writeSandboxConfig(sandbox));
    return (await this.#call(IMAGES, 'PullImage', request, { timeoutMs: PULL_TIMEOUT_MS, signal })).text(1);
  }

  #connection(): GrpcSession {
    if (this.#session?.connection.usable === true) return this.#session;
    const socket = connectSocket(this.#path);
    // A connection at rest must not keep the kubelet from ending; a call does, until its time is over.
    socket.unref();
    return (this.#session = openGrpcSession(socket, 'localhost', 'http'));
  }

  async #call(
    service: string,
    method: string,
    request: MessageWriter,
    { timeoutMs = REQUEST_TIMEOUT_MS, signal }: CallOptions = {},
  ): Promise<Message> {
    if (this.#isClosed) throw failure(CODE.Unavailable, 'the connection to the container runtime is closed');
    const late = new AbortController();
    const cancel = (): void => late.abort();
    const timer = setTimeout(cancel, timeoutMs);
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      if (signal?.aborted) throw failure(CODE.Canceled, 'context canceled');
      const answer = await unaryCall(this.#connection(), {
        path: `${service}${method}`,
        message: request.finish(),
        answerBytesMax: ANSWER_BYTES_MAX,
        signal: late.signal,
      });
      if (signal?.aborted) throw failure(CODE.Canceled, 'context canceled');
      if (late.signal.aborted) throw failure(CODE.DeadlineExceeded, 'context deadline exceeded');
      if (answer.isTooLarge) throw failure(CODE.ResourceExhausted, 'the answer of the runtime is too large');
      if (answer.status === undefined) {
        const why = answer.error ? messageOf(answer.error) : 'the connection was closed';
        throw failure(CODE.Unavailable, `${this.#path}: ${why}`, answer.error);
      }
      if (answer.status !== 0) throw failure(answer.status, answer.text);
      if (!answer.message) throw failure(CODE.Internal, 'the runtime answered with a malformed message');
      return readMessage(answer.message);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    }
  }
}
