import { execFile, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, open, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CriClient } from '../../core/kubelet/runtimes/cri/cri-client.ts';
import {
  endContainers,
  ownedFolder,
  removeCgroupTree,
  removeWithMounts,
  sweepLeftovers,
} from './leftovers.ts';
import { tied } from './tied.ts';
import { until } from './until.ts';

const run = promisify(execFile);

const PROGRAMS = ['/usr/bin/containerd', '/usr/sbin/runc', '/usr/lib/cni/bridge', '/bin/busybox'];
/** CAP_NET_ADMIN and CAP_SYS_ADMIN: networks and mounts. */
const CAPABILITIES = (1n << 12n) | (1n << 21n);

const mayMount = (): boolean => {
  const effective = /^CapEff:\s*(\w+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
  return (BigInt(`0x${effective}`) & CAPABILITIES) === CAPABILITIES;
};

/** Namespaces, an overlay and a cgroup, made and left behind by nothing but the kernel: what every runtime needs. */
const KERNEL_PROBE = `set -e
mount -t tmpfs probe /mnt && cd /mnt && mkdir l u w m && mount -t overlay probe -o lowerdir=l,upperdir=u,workdir=w m
group=/sys/fs/cgroup; [ -e $group/cgroup.controllers ] || group=$group/memory
mkdir $group/pilothouse-probe && rmdir $group/pilothouse-probe`;

const kernelRefuses = (): string | undefined => {
  const { status, stderr } = spawnSync(
    'unshare',
    ['-m', '-p', '-n', '-u', '-i', '--fork', 'sh', '-c', KERNEL_PROBE],
    {
      encoding: 'utf8',
      timeout: 10_000,
    },
  );
  return status === 0
    ? undefined
    : `the kernel refuses: ${stderr.trim().split('\n')[0] ?? 'no reason given'}`;
};

/** Why this machine cannot run containers; undefined when it can. */
export const noContainers = ((): string | undefined => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs root on Linux';
  const missing = PROGRAMS.filter((program) => !existsSync(program));
  if (missing.length > 0) return `needs ${missing.join(', ')}`;
  if (!mayMount()) return 'needs CAP_SYS_ADMIN and CAP_NET_ADMIN';
  try {
    accessSync('/sys/fs/cgroup', constants.W_OK);
    return readFileSync('/proc/mounts', 'utf8').includes(' /sys/fs/cgroup')
      ? kernelRefuses()
      : 'needs cgroups';
  } catch {
    return 'needs cgroups that can be written';
  }
})();

const LOG_CHARACTERS = 6_000;

/** An image that Docker could have saved: busybox and links to it. */
const saveImage = async (folder: string, tags: readonly string[]): Promise<string> => {
  const root = join(folder, 'root');
  await mkdir(join(root, 'bin'), { recursive: true });
  for (const name of ['tmp', 'etc', 'proc', 'sys', 'dev']) await mkdir(join(root, name));
  await copyFile('/bin/busybox', join(root, 'bin', 'busybox'));
  const { stdout: applets } = await run('/bin/busybox', ['--list']);
  for (const applet of applets.split('\n').filter((name) => name !== '' && name !== 'busybox'))
    await symlink('busybox', join(root, 'bin', applet));
  await writeFile(join(root, 'etc', 'passwd'), 'root:x:0:0:root:/:/bin/sh\n');
  await run('tar', ['-C', root, '-cf', join(folder, 'layer.tar'), '.']);
  const layer = createHash('sha256')
    .update(await readFile(join(folder, 'layer.tar')))
    .digest('hex');
  const config = {
    architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
    os: 'linux',
    config: { Cmd: ['/bin/sleep', '2147483'], Env: ['PATH=/bin'] },
    rootfs: { type: 'layers', diff_ids: [`sha256:${layer}`] },
  };
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  const manifest = [{ Config: 'config.json', RepoTags: tags, Layers: ['layer.tar'] }];
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
  const image = join(folder, 'image.tar');
  await run('tar', ['-C', folder, '-cf', image, 'manifest.json', 'config.json', 'layer.tar']);
  return image;
};

const containerdConfig = (folder: string, pause: string): string => `version = 2
root = "${folder}/root-dir"
state = "${folder}/state"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
  address = "${folder}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pause}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${folder}/cni"
`;

/** Of this process alone: tests of several clones may run on one machine. */
const network = (folder: string, prefix: string) => ({
  cniVersion: '0.4.0',
  name: `test-${process.pid}`,
  plugins: [
    {
      type: 'bridge',
      bridge: `pht-${process.pid}`,
      isGateway: true,
      ipam: {
        type: 'host-local',
        ranges: [[{ subnet: `${prefix}0/24` }]],
        dataDir: `${folder}/addresses`,
      },
    },
  ],
});

export interface TestContainerd {
  readonly endpoint: string;
  readonly folder: string;
  readonly image: string;
  /** For the cgroups of its pods. */
  readonly cgroupRoot: string;
  /** Of the addresses of its pods, where it has a network of its own: the first three bytes. */
  readonly podPrefix: string;
  /** The newest lines of its log, for failures. */
  log(): Promise<string>;
  /** Identities of all processes that run for containers and sandboxes, in order. */
  tasks(): Promise<readonly string[]>;
  /** As `kill -9`: containers stay. */
  kill(): Promise<void>;
  /** Starts it again after it was killed. */
  again(): Promise<void>;
  /** Kills it and leaves nothing mounted or running, nor cgroups of its own and of these roots. */
  close(cgroupRoots?: readonly string[]): Promise<void>;
}

/** By the runtime itself, so that its network plugins are told; a runtime that is away cannot. */
const removeSandboxes = async (endpoint: string): Promise<void> => {
  const client = new CriClient(endpoint);
  try {
    const sandboxes = await client.listSandboxes({});
    await Promise.allSettled(
      sandboxes.map(async ({ id }) => {
        await client.stopSandbox(id);
        await client.removeSandbox(id);
      }),
    );
  } catch {
    // What is left is ended without it.
  } finally {
    client.close();
  }
};

/** Debian's containerd with folders, an image and a network of its own. What killed runs have left is removed first. */
export const startContainerd = async (
  options: {
    /** False: the test's subject gives it one. */
    readonly hasNetwork?: boolean;
    /** Of another machine that a network namespace plays. */
    readonly inMachine?: (command: string, ...args: string[]) => readonly [string, ...string[]];
  } = {},
): Promise<TestContainerd> => {
  const { hasNetwork = false, inMachine = (command, ...args) => [command, ...args] as const } = options;
  await sweepLeftovers();
  const folder = ownedFolder('containers');
  const cgroupRoot = `/pilothouse-test-${process.pid}`;
  const image = 'localhost/busybox:1';
  await mkdir(join(folder, 'cni'));
  await mkdir(join(folder, 'image'));
  const pause = 'localhost/pause:1';
  const prefix = `198.${18 + ((process.pid >> 8) & 1)}.${process.pid & 255}.`;
  if (hasNetwork)
    await writeFile(join(folder, 'cni', '10-test.conflist'), JSON.stringify(network(folder, prefix)));
  await writeFile(join(folder, 'config.toml'), containerdConfig(folder, pause));
  const launch = async () => {
    const log = await open(join(folder, 'containerd.log'), 'a');
    const [command, ...args] = inMachine('/usr/bin/containerd', '--config', join(folder, 'config.toml'));
    const child = spawn(...tied(command, args), { stdio: ['ignore', log.fd, log.fd] });
    await log.close();
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    return {
      async kill() {
        child.kill('SIGKILL');
        await exited;
      },
    };
  };
  let running = await launch();
  const socket = join(folder, 'containerd.sock');
  const ctr = (...args: string[]) => run('ctr', ['-a', socket, '-n', 'k8s.io', ...args]);
  const log = async (): Promise<string> =>
    (await readFile(join(folder, 'containerd.log'), 'utf8').catch(() => '')).slice(-LOG_CHARACTERS);
  const close = async (cgroupRoots: readonly string[] = []): Promise<void> => {
    await removeSandboxes(`unix://${socket}`);
    await running.kill();
    await endContainers(folder);
    for (const root of [cgroupRoot, ...cgroupRoots]) await removeCgroupTree(root);
    await removeWithMounts(folder);
  };
  try {
    const saved = await saveImage(join(folder, 'image'), [image, pause]);
    await until('containerd to listen', () => existsSync(socket));
    await until('containerd to take the image', () => ctr('images', 'import', saved));
    return {
      endpoint: `unix://${socket}`,
      folder,
      image,
      cgroupRoot,
      podPrefix: prefix,
      log,
      tasks: async () =>
        (await ctr('tasks', 'ls')).stdout
          .split('\n')
          .slice(1)
          .map((line) => line.trim().split(/\s+/))
          .flatMap(([id = '', , status]) => (id === '' || status === 'STOPPED' ? [] : [id]))
          .sort(),
      kill: () => running.kill(),
      async again() {
        running = await launch();
        await until('containerd to answer again', () => ctr('version'));
      },
      close,
    };
  } catch (error) {
    const said = await log();
    await close();
    throw new Error(`containerd did not start: ${said}`, { cause: error });
  }
};
