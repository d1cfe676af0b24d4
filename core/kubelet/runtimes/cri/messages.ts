import { MessageWriter } from '../../../base/node/protobuf/message-writer.ts';
import { readMessage, type Message } from '../../../base/node/protobuf/read-message.ts';

/** The messages of `runtime.v1` that the kubelet writes and reads, with upstream's field numbers. */

export type Labels = Readonly<Record<string, string>>;
/** POD 0, CONTAINER 1, NODE 2, TARGET 3. */
export type NamespaceMode = 0 | 1 | 2 | 3;

export interface NamespaceOptions {
  readonly network: NamespaceMode;
  readonly pid: NamespaceMode;
  readonly ipc: NamespaceMode;
  readonly targetId?: string;
}

/** RuntimeDefault 0, Unconfined 1, Localhost 2. */
export interface SecurityProfile {
  readonly type: 0 | 1 | 2;
  readonly localhostRef?: string;
}

export interface SandboxConfig {
  readonly name: string;
  readonly uid: string;
  readonly namespace: string;
  readonly attempt: number;
  readonly hostname: string;
  readonly logDirectory: string;
  readonly dns: {
    readonly servers: readonly string[];
    readonly searches: readonly string[];
    readonly options: readonly string[];
  };
  readonly ports: readonly {
    readonly protocol: 0 | 1 | 2;
    readonly containerPort: number;
    readonly hostPort: number;
    readonly hostIP: string;
  }[];
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly cgroupParent: string;
  readonly sysctls: Labels;
  readonly namespaces: NamespaceOptions;
  readonly isPrivileged: boolean;
  readonly runAsUser: number | undefined;
  readonly runAsGroup: number | undefined;
  readonly supplementalGroups: readonly number[];
}

export interface CriMount {
  readonly containerPath: string;
  readonly hostPath: string;
  readonly isReadOnly: boolean;
  /** Private 0, HostToContainer 1, Bidirectional 2. */
  readonly propagation: 0 | 1 | 2;
}

export interface LinuxResources {
  readonly cpuPeriod: number;
  /** -1: no limit. */
  readonly cpuQuota: number;
  readonly cpuShares: number;
  /** 0: no limit. */
  readonly memoryBytes: number;
  readonly oomScoreAdjust: number;
}

export interface ContainerSecurity {
  readonly addCapabilities: readonly string[];
  readonly dropCapabilities: readonly string[];
  readonly isPrivileged: boolean;
  readonly namespaces: NamespaceOptions;
  readonly runAsUser: number | undefined;
  readonly runAsUsername: string;
  readonly runAsGroup: number | undefined;
  readonly isReadOnlyRoot: boolean;
  readonly supplementalGroups: readonly number[];
  readonly noNewPrivileges: boolean;
  readonly maskedPaths: readonly string[];
  readonly readOnlyPaths: readonly string[];
  readonly seccomp: SecurityProfile;
  readonly appArmor: SecurityProfile | undefined;
}

export interface ContainerConfig {
  readonly name: string;
  readonly attempt: number;
  /** What the runtime calls the image. */
  readonly imageRef: string;
  readonly imageAsNamed: string;
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly workingDirectory: string;
  readonly environment: ReadonlyMap<string, string>;
  readonly mounts: readonly CriMount[];
  readonly labels: Labels;
  readonly annotations: Labels;
  /** Below the sandbox's log directory. */
  readonly logPath: string;
  readonly stdin: boolean;
  readonly stdinOnce: boolean;
  readonly tty: boolean;
  readonly resources: LinuxResources;
  readonly security: ContainerSecurity;
}

const message = (): MessageWriter => new MessageWriter();

/** Present also when it is 0: root is not "as the image says". */
const int64Value = (value: number | undefined): MessageWriter | undefined =>
  value === undefined ? undefined : message().signed(1, value);

const numbers = (into: MessageWriter, field: number, values: readonly number[]): MessageWriter => {
  if (values.length === 0) return into;
  const packed = values.flatMap((value) => {
    const bytes: number[] = [];
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
    return [...bytes, rest];
  });
  return into.bytes(field, Uint8Array.from(packed));
};

const profile = ({ type, localhostRef }: SecurityProfile): MessageWriter =>
  message().integer(1, type).string(2, localhostRef);

const namespaces = ({ network, pid, ipc, targetId }: NamespaceOptions): MessageWriter =>
  message().integer(1, network).integer(2, pid).integer(3, ipc).string(4, targetId);

export const writeSandboxConfig = (config: SandboxConfig): MessageWriter => {
  const { dns } = config;
  const security = message()
    .message(1, namespaces(config.namespaces))
    .message(3, int64Value(config.runAsUser))
    .bool(6, config.isPrivileged)
    .message(8, int64Value(config.runAsGroup))
    .message(9, profile({ type: 0 }));
  numbers(security, 5, config.supplementalGroups);
  const writer = message()
    .message(
      1,
      message()
        .string(1, config.name)
        .string(2, config.uid)
        .string(3, config.namespace)
        .integer(4, config.attempt),
    )
    .string(2, config.hostname)
    .string(3, config.logDirectory)
    .message(4, message().strings(1, dns.servers).strings(2, dns.searches).strings(3, dns.options));
  for (const port of config.ports)
    writer.message(
      5,
      message()
        .integer(1, port.protocol)
        .integer(2, port.containerPort)
        .integer(3, port.hostPort)
        .string(4, port.hostIP),
    );
  return writer
    .texts(6, config.labels)
    .texts(7, config.annotations)
    .message(8, message().string(1, config.cgroupParent).message(2, security).texts(3, config.sysctls));
};

const writeSecurity = (security: ContainerSecurity): MessageWriter => {
  const writer = message()
    .message(1, message().strings(1, security.addCapabilities).strings(2, security.dropCapabilities))
    .bool(2, security.isPrivileged)
    .message(3, namespaces(security.namespaces))
    .message(5, int64Value(security.runAsUser))
    .string(6, security.runAsUsername)
    .bool(7, security.isReadOnlyRoot)
    .bool(11, security.noNewPrivileges)
    .message(12, int64Value(security.runAsGroup))
    .strings(13, security.maskedPaths)
    .strings(14, security.readOnlyPaths)
    .message(15, profile(security.seccomp))
    .message(16, security.appArmor && profile(security.appArmor));
  return numbers(writer, 8, security.supplementalGroups);
};

export const writeResources = (resources: LinuxResources): MessageWriter =>
  message()
    .integer(1, resources.cpuPeriod)
    .signed(2, resources.cpuQuota)
    .integer(3, resources.cpuShares)
    .integer(4, resources.memoryBytes)
    .signed(5, resources.oomScoreAdjust);

export const writeContainerConfig = (config: ContainerConfig): MessageWriter => {
  const writer = message()
    .message(1, message().string(1, config.name).integer(2, config.attempt))
    .message(2, message().string(1, config.imageRef).string(18, config.imageAsNamed))
    .strings(3, config.command)
    .strings(4, config.args)
    .string(5, config.workingDirectory);
  for (const [key, value] of config.environment)
    writer.message(6, message().string(1, key).optionalBytes(2, Buffer.from(value)));
  for (const mount of config.mounts)
    writer.message(
      7,
      message()
        .string(1, mount.containerPath)
        .string(2, mount.hostPath)
        .bool(3, mount.isReadOnly)
        .integer(5, mount.propagation),
    );
  return writer
    .texts(9, config.labels)
    .texts(10, config.annotations)
    .string(11, config.logPath)
    .bool(12, config.stdin)
    .bool(13, config.stdinOnce)
    .bool(14, config.tty)
    .message(
      15,
      message().message(1, writeResources(config.resources)).message(2, writeSecurity(config.security)),
    );
};

export interface FoundSandbox {
  readonly id: string;
  readonly name: string;
  readonly uid: string;
  readonly namespace: string;
  readonly attempt: number;
  readonly isReady: boolean;
  readonly createdMs: number;
  readonly labels: ReadonlyMap<string, string>;
}

export interface FoundContainer {
  readonly id: string;
  readonly sandboxId: string;
  readonly name: string;
  readonly attempt: number;
  readonly state: 'created' | 'running' | 'exited' | 'unknown';
  readonly createdMs: number;
  readonly imageRef: string;
  readonly labels: ReadonlyMap<string, string>;
}

export interface ContainerStatus extends Omit<FoundContainer, 'sandboxId'> {
  readonly startedMs: number;
  readonly finishedMs: number;
  readonly exitCode: number;
  readonly image: string;
  readonly reason: string;
  readonly message: string;
  readonly annotations: ReadonlyMap<string, string>;
  readonly logPath: string;
}

export interface CriImage {
  readonly id: string;
  readonly tags: readonly string[];
  readonly digests: readonly string[];
  readonly sizeBytes: number;
  /** Undefined: the image says a name, or nothing. */
  readonly uid: number | undefined;
  readonly username: string;
  /** Never removed to free space. */
  readonly isPinned: boolean;
}

const NANOS_PER_MS = 1e6;
const STATES = ['created', 'running', 'exited'] as const;

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
const texts = (from: Message, field: number): ReadonlyMap<string, string> =>
  new Map([...from.map(field)].map(([key, value]) => [key, text(value)]));
const ms = (nanos: number): number => Math.floor(nanos / NANOS_PER_MS);

export const readSandbox = (bytes: Uint8Array): FoundSandbox => {
  const read = readMessage(bytes);
  const metadata = read.message(2);
  return {
    id: read.text(1),
    name: metadata.text(1),
    uid: metadata.text(2),
    namespace: metadata.text(3),
    attempt: metadata.varint(4),
    isReady: read.varint(3) === 0,
    createdMs: ms(read.varint(4)),
    labels: texts(read, 5),
  };
};

/** Addresses of `PodSandboxStatus`, the first one first. */
export const readSandboxAddresses = (status: Message): readonly string[] => {
  const network = status.message(5);
  const more = network.list(2).map((bytes) => readMessage(bytes).text(1));
  return [network.text(1), ...more].filter((address) => address !== '');
};

export const readContainer = (bytes: Uint8Array): FoundContainer => {
  const read = readMessage(bytes);
  const metadata = read.message(3);
  return {
    id: read.text(1),
    sandboxId: read.text(2),
    name: metadata.text(1),
    attempt: metadata.varint(2),
    state: STATES[read.varint(6)] ?? 'unknown',
    createdMs: ms(read.varint(7)),
    imageRef: read.text(5),
    labels: texts(read, 8),
  };
};

export const readContainerStatus = (read: Message): ContainerStatus => {
  const metadata = read.message(2);
  return {
    id: read.text(1),
    name: metadata.text(1),
    attempt: metadata.varint(2),
    state: STATES[read.varint(3)] ?? 'unknown',
    createdMs: ms(read.varint(4)),
    startedMs: ms(read.varint(5)),
    finishedMs: ms(read.varint(6)),
    exitCode: read.varint(7),
    image: read.message(8).text(1),
    imageRef: read.text(9),
    reason: read.text(10),
    message: read.text(11),
    labels: texts(read, 12),
    annotations: texts(read, 13),
    logPath: read.text(15),
  };
};

/** Undefined for an answer without an image: it is not there. */
export const readImage = (bytes: Uint8Array): CriImage | undefined => {
  const read = readMessage(bytes);
  const id = read.text(1);
  if (id === '') return undefined;
  const hasUid = read.list(5).length > 0;
  return {
    id,
    tags: read.list(2).map(text),
    digests: read.list(3).map(text),
    sizeBytes: read.varint(4),
    uid: hasUid ? read.message(5).varint(1) : undefined,
    username: read.text(6),
    isPinned: read.varint(8) === 1,
  };
};

/** What a container takes, and whose it is. */
export interface CriPodUsage {
  readonly podUid: string;
  readonly name: string;
  readonly memoryBytes: number;
  /** Of the layer that it writes to. */
  readonly layerBytes: number;
}

export const readPodUsage = (read: Message): CriPodUsage => {
  const attributes = read.message(1);
  return {
    podUid: texts(attributes, 3).get('io.kubernetes.pod.uid') ?? '',
    name: attributes.message(2).text(1),
    memoryBytes: read.message(3).message(2).varint(1),
    layerBytes: read.message(4).message(3).varint(1),
  };
};
