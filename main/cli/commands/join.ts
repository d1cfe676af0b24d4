import { hostname } from 'node:os';
import { isIPv4 } from 'node:net';
import { systemClock } from '../../../core/base/node/clock.ts';
import { jsonLog } from '../../../core/base/node/log.ts';
import { parseAuthorityHash } from '../../../core/cluster/bootstrap-tokens/authority-hash.ts';
import { parseToken } from '../../../core/cluster/bootstrap-tokens/bootstrap-token.ts';
import { joinMachine, type JoinOptions } from '../../../core/cluster/join/join-machine.ts';
import { EXIT_OK, leadingWords, parseOptions, usageError, type Command } from '../command.ts';
import { builtHost, hostLauncherHere } from './built-host.ts';

const CONTAINERD = 'unix:///run/containerd/containerd.sock';
const NODE_NAME = /^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/;
const ENDPOINT = /^[A-Za-z0-9.-]+:\d{1,5}$/;

const OPTIONS = {
  token: { type: 'string' },
  'discovery-token-ca-cert-hash': { type: 'string', multiple: true },
  'node-name': { type: 'string' },
  'node-ip': { type: 'string' },
  'cri-socket': { type: 'string' },
  runtime: { type: 'string' },
} as const;

interface Values {
  readonly token?: string;
  readonly 'discovery-token-ca-cert-hash'?: readonly string[];
  readonly 'node-name'?: string;
  readonly 'node-ip'?: string;
  readonly 'cri-socket'?: string;
  readonly runtime?: string;
}

const invitationOf = (words: readonly string[], values: Values): JoinOptions['invitation'] => {
  const [endpoint, ...more] = words;
  const hashes = values['discovery-token-ca-cert-hash'] ?? [];
  if (endpoint === undefined && values.token === undefined && hashes.length === 0) return undefined;
  if (endpoint === undefined || more.length > 0 || !ENDPOINT.test(endpoint))
    throw usageError('join requires one address with a port, such as 192.168.1.10:6443');
  if (values.token === undefined || hashes.length === 0)
    throw usageError('join requires --token and --discovery-token-ca-cert-hash');
  return { endpoint, token: parseToken(values.token), hashes: hashes.map(parseAuthorityHash) };
};

const runtimeOf = ({
  runtime,
  'cri-socket': socket,
}: Values): Pick<JoinOptions, 'runtime' | 'runtimeEndpoint'> => {
  const chosen = runtime ?? (socket === undefined ? 'simulated' : 'cri');
  if (chosen !== 'simulated' && chosen !== 'cri')
    throw usageError(`--runtime must be simulated or cri, not "${chosen}"`);
  if (chosen === 'simulated' && socket !== undefined) throw usageError('--cri-socket requires --runtime cri');
  const runtimeEndpoint = socket ?? CONTAINERD;
  if (!runtimeEndpoint.startsWith('unix:///'))
    throw usageError(`--cri-socket must be a Unix socket such as ${CONTAINERD}`);
  return { runtime: chosen, runtimeEndpoint };
};

export const join: Command = {
  usage: `  pilothouse join ADDRESS:PORT --token TOKEN --discovery-token-ca-cert-hash sha256:HASH
                [--node-name NAME] [--node-ip ADDRESS] [--runtime simulated|cri]
                [--cri-socket unix:///run/containerd/containerd.sock] [--data DIR]
  pilothouse join [--data DIR]

  Adds this machine to a cluster as a node and runs it in the foreground: kubelet, kube-proxy and DNS. The first line is
  what pilothouse token create --print-join-command prints on the machine of the cluster. Without an address, a machine
  that has joined before resumes. Containers of --runtime cri keep running when it ends.`,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    const { values, dataDirectory, json } = parseOptions(OPTIONS, rest, context);
    const given = values as Values;
    const nodeName = (given['node-name'] ?? hostname()).trim().toLowerCase();
    if (!NODE_NAME.test(nodeName)) throw usageError(`--node-name: "${nodeName}" is no name for a node`);
    const nodeIP = given['node-ip'] ?? '';
    if (nodeIP !== '' && !isIPv4(nodeIP))
      throw usageError(`--node-ip must be an IPv4 address, not "${nodeIP}"`);
    const invitation = invitationOf(words, given);
    const runtime = runtimeOf(given);
    if (runtime.runtime === 'cri') {
      const { assertContainerRuntime } = await import('../../../core/cluster/host/assert-runtime.ts');
      await assertContainerRuntime([runtime.runtimeEndpoint]);
    }
    const program = builtHost();
    await joinMachine({
      data: dataDirectory,
      ...(invitation && { invitation }),
      nodeName,
      nodeIP,
      ...runtime,
      launch: await hostLauncherHere(program),
      clock: systemClock,
      log: jsonLog(process.stderr, { level: 'error' }),
      signal: context.signal,
      tell: (line) => context.print(json ? JSON.stringify({ step: line }) : line),
    });
    return EXIT_OK;
  },
};
