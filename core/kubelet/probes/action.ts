import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import { inIpv4Range, LOOPBACK } from '../../base/bind-rules.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type {
  V1Container,
  V1ExecAction,
  V1GRPCAction,
  V1HTTPGetAction,
  V1TCPSocketAction,
} from '../../api/schema/index.ts';
import type { ProbeAnswer, RunningContainer } from '../runtimes/runtime.ts';
import { checkGrpcHealth } from './grpc-health.ts';

export interface Action {
  readonly exec?: V1ExecAction;
  readonly httpGet?: V1HTTPGetAction;
  readonly tcpSocket?: V1TCPSocketAction;
  readonly grpc?: V1GRPCAction;
}

export interface ActionTarget {
  readonly podIP: string;
  /** Probes come from the node, which no NetworkPolicy keeps out; absent: from wherever the system says. */
  readonly hostIP?: string | undefined;
  readonly spec: V1Container;
  readonly container: RunningContainer;
  readonly clock: Clock;
  readonly userAgent: string;
}

/** As much of an answer as an event may quote. */
const OUTPUT_BYTES_MAX = 10 * 1024;
const PORT_MAX = 65_535;

/** As upstream, probes trust any certificate: one context for all, without the authorities that no one asks. */
let anyCertificate: tls.SecureContext | undefined;
const probeTls = (): { readonly secureContext: tls.SecureContext; readonly rejectUnauthorized: false } => ({
  secureContext: (anyCertificate ??= tls.createSecureContext({ ca: [] })),
  rejectUnauthorized: false,
});

/** A pod with a network of its own is reached by the bridge of its node, where loopback addresses mean nothing. */
const sourceOf = (host: string, { podIP, hostIP }: ActionTarget): { readonly localAddress?: string } =>
  host === podIP && hostIP !== undefined && inIpv4Range(LOOPBACK, podIP) ? { localAddress: hostIP } : {};

const portOf = (port: number | string, spec: V1Container): number => {
  if (typeof port === 'number') return port;
  const named = spec.ports?.find(({ name }) => name === port);
  const number = named?.containerPort ?? Number(port);
  if (!Number.isInteger(number) || number < 1 || number > PORT_MAX)
    throw new Error(`unresolved port: ${port}`);
  return number;
};

const dialError = (address: string, error: unknown): string => {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ECONNREFUSED') return `dial tcp ${address}: connect: connection refused`;
  if (code === 'ECONNRESET') return `read tcp ${address}: read: connection reset by peer`;
  return `dial tcp ${address}: ${messageOf(error)}`;
};

const httpGet = (action: V1HTTPGetAction, target: ActionTarget, timeoutMs: number): Promise<ProbeAnswer> => {
  const host = action.host || target.podIP;
  const port = portOf(action.port, target.spec);
  const isTls = action.scheme === 'HTTPS';
  const path = `/${(action.path ?? '').replace(/^\//, '')}`;
  const url = `${isTls ? 'https' : 'http'}://${host}:${port}${path}`;
  // Without a prototype: a header of a manifest may be named `__proto__`.
  const headers: Record<string, string> = Object.assign(Object.create(null) as Record<string, string>, {
    'User-Agent': target.userAgent,
    Accept: '*/*',
    Connection: 'close',
  });
  for (const { name, value } of action.httpHeaders ?? []) headers[name] = value;
  return new Promise((resolve) => {
    const failed = (why: string): void => resolve({ ok: false, output: `Get "${url}": ${why}` });
    const source = sourceOf(host, target);
    const options = { host, port, path, headers, agent: false as const, ...source, ...(isTls && probeTls()) };
    const request = (isTls ? https : http).get(options, (response) => {
      response.resume();
      const code = response.statusCode ?? 0;
      const ok = code >= 200 && code < 400;
      response.once('close', () => timer.dispose());
      resolve({ ok, output: ok ? '' : `HTTP probe failed with statuscode: ${code}` });
    });
    const timer = target.clock.after(timeoutMs, () => {
      failed('context deadline exceeded (Client.Timeout exceeded while awaiting headers)');
      request.destroy();
    });
    request.on('error', (error) => {
      timer.dispose();
      failed(dialError(`${host}:${port}`, error));
    });
  });
};

const tcpSocket = (
  action: V1TCPSocketAction,
  target: ActionTarget,
  timeoutMs: number,
): Promise<ProbeAnswer> => {
  const host = action.host || target.podIP;
  const port = portOf(action.port, target.spec);
  const address = `${host}:${port}`;
  return new Promise((resolve) => {
    const socket = net.connect({ host, port, ...sourceOf(host, target) });
    const end = (answer: ProbeAnswer): void => {
      timer.dispose();
      socket.destroy();
      resolve(answer);
    };
    const timer = target.clock.after(timeoutMs, () =>
      end({ ok: false, output: `dial tcp ${address}: i/o timeout` }),
    );
    socket.once('connect', () => end({ ok: true, output: '' }));
    socket.on('error', (error) => end({ ok: false, output: dialError(address, error) }));
  });
};

const exec = async (action: V1ExecAction, target: ActionTarget, timeoutMs: number): Promise<ProbeAnswer> => {
  const command = action.command ?? [];
  const { exitCode, output } = await target.container.run({
    command,
    timeoutMs,
    outputBytesMax: OUTPUT_BYTES_MAX,
  });
  if (exitCode === undefined)
    return {
      ok: false,
      output: `command timed out: [${command.join(' ')}] timed out after ${timeoutMs / 1000}s`,
    };
  return { ok: exitCode === 0, output };
};

/**
 * Carries out a probe's or a hook's action and tells what came of it. Rejects only when it could not be tried: an
 * unknown port name, a container that takes no commands.
 */
export const runAction = async (
  action: Action,
  target: ActionTarget,
  timeoutMs: number,
): Promise<ProbeAnswer> => {
  if (action.exec) return exec(action.exec, target, timeoutMs);
  if (action.httpGet) return httpGet(action.httpGet, target, timeoutMs);
  if (action.tcpSocket) return tcpSocket(action.tcpSocket, target, timeoutMs);
  if (action.grpc)
    return checkGrpcHealth({
      host: target.podIP,
      ...sourceOf(target.podIP, target),
      port: action.grpc.port,
      service: action.grpc.service ?? '',
      timeoutMs,
      clock: target.clock,
      userAgent: target.userAgent,
    });
  throw new Error('missing probe handler');
};
