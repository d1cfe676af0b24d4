import { formatClock, formatMoment } from '../../locales/format.ts';
import { t } from '../../locales/i18n.ts';
import { at, entriesAt, fieldsOf, listAt, textAt, type KubeObject } from '../kube-object.ts';
import { amountText } from './amounts.ts';
import {
  blocks,
  coreLink,
  facts,
  joined,
  linked,
  mono,
  plain,
  probeKinds,
  toned,
  type Block,
  type Cell,
  type ProbeFailure,
  type ProbeKind,
  type Section,
} from './section.ts';
import { volumeSource } from './volumes.ts';

/** What a container's place in the pod tells: its namespace for links, its volumes, and what the kubelet reported. */
export interface ContainerContext {
  readonly namespace: string;
  readonly volumes: readonly KubeObject[];
  readonly status?: KubeObject | undefined;
  readonly probeFailures?: readonly ProbeFailure[] | undefined;
}

const momentText = (text: string): string => {
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? '' : formatMoment(atMs);
};

const endedText = (ended: KubeObject): string =>
  t('sec.state.terminated', {
    reason: textAt(ended, 'reason') || t('sec.state.noReason'),
    code: textAt(ended, 'exitCode'),
  });

/** Running, waiting or terminated, in the kubelet's words; undefined in a template. */
export const containerState = (status: KubeObject | undefined): Cell | undefined => {
  if (!status) return undefined;
  const waiting = at(status, 'state', 'waiting');
  if (waiting !== undefined)
    return toned(
      textAt(waiting, 'reason') || t('sec.state.waiting'),
      isStarting(waiting) ? 'pending' : 'error',
    );
  const ended = fieldsOf(at(status, 'state', 'terminated'));
  if (Object.keys(ended).length > 0)
    return toned(endedText(ended), textAt(ended, 'exitCode') === '0' ? 'idle' : 'error');
  if (at(status, 'state', 'running') === undefined) return undefined;
  return status['ready'] === true
    ? toned(t('sec.state.ready'), 'ok')
    : toned(t('sec.state.notReady'), 'pending');
};
const isStarting = (waiting: unknown): boolean =>
  ['ContainerCreating', 'PodInitializing', ''].includes(textAt(waiting, 'reason'));

const resourceBlock = (container: KubeObject): Block | undefined => {
  const requests = new Map(entriesAt(container, 'resources', 'requests'));
  const limits = new Map(entriesAt(container, 'resources', 'limits'));
  const names = [...new Set([...requests.keys(), ...limits.keys()])].sort();
  return {
    form: 'table',
    title: t('sec.resources'),
    head: [t('sec.resource'), t('sec.request'), t('sec.limit')],
    rows: names.map((name) => [
      mono(name),
      mono(amountText(name, requests.get(name)) || '–'),
      mono(amountText(name, limits.get(name)) || '–'),
    ]),
  };
};

/** Where a variable gets its value from. A secret's value is never read for this. */
const envCell = (variable: KubeObject, namespace: string): readonly [Cell, Cell] => {
  const from = fieldsOf(variable['valueFrom']);
  const named = (kind: string, ref: unknown): readonly [Cell, Cell] => [
    mono(textAt(ref, 'key')),
    linked(coreLink(kind, textAt(ref, 'name'), namespace), `${kind} ${textAt(ref, 'name')}`),
  ];
  if (from['secretKeyRef'] !== undefined) return named('Secret', from['secretKeyRef']);
  if (from['configMapKeyRef'] !== undefined) return named('ConfigMap', from['configMapKeyRef']);
  if (from['fieldRef'] !== undefined)
    return [mono(textAt(from, 'fieldRef', 'fieldPath')), plain(t('sec.env.field'))];
  if (from['resourceFieldRef'] !== undefined)
    return [mono(textAt(from, 'resourceFieldRef', 'resource')), plain(t('sec.env.resource'))];
  if (from['fileKeyRef'] !== undefined)
    return [mono(textAt(from, 'fileKeyRef', 'key')), plain(t('sec.env.file'))];
  return [mono(textAt(variable, 'value')), plain(t('sec.env.value'))];
};

const envBlock = (container: KubeObject, namespace: string): Block => ({
  form: 'table',
  title: t('sec.env'),
  head: [t('sec.env.name'), t('sec.env.valueOrKey'), t('sec.env.source')],
  rows: [
    ...listAt(container, 'envFrom').map((source) => {
      const kind = source['secretRef'] === undefined ? 'ConfigMap' : 'Secret';
      const name = textAt(source, kind === 'Secret' ? 'secretRef' : 'configMapRef', 'name');
      return [
        mono(`${textAt(source, 'prefix')}*`),
        plain(t('sec.env.allKeys')),
        linked(coreLink(kind, name, namespace), `${kind} ${name}`),
      ];
    }),
    ...listAt(container, 'env').map((variable) => [
      mono(textAt(variable, 'name')),
      ...envCell(variable, namespace),
    ]),
  ],
});

const mountBlock = (container: KubeObject, { volumes, namespace }: ContainerContext): Block => ({
  form: 'table',
  title: t('sec.mounts'),
  head: [t('sec.mount.path'), t('sec.mount.volume'), t('sec.mount.source')],
  rows: listAt(container, 'volumeMounts').map((mount) => {
    const name = textAt(mount, 'name');
    const subPath = textAt(mount, 'subPath');
    return [
      mono(
        `${textAt(mount, 'mountPath')}${mount['readOnly'] === true ? ` (${t('sec.mount.readOnly')})` : ''}`,
      ),
      mono(subPath === '' ? name : `${name}/${subPath}`),
      volumeSource(
        volumes.find((volume) => textAt(volume, 'name') === name),
        namespace,
      ),
    ];
  }),
});

const probeCheck = (probe: KubeObject): string => {
  const http = at(probe, 'httpGet');
  if (http !== undefined)
    return `${textAt(http, 'scheme') || 'HTTP'} GET :${textAt(http, 'port')}${textAt(http, 'path') || '/'}`;
  if (at(probe, 'tcpSocket') !== undefined) return `TCP :${textAt(probe, 'tcpSocket', 'port')}`;
  if (at(probe, 'grpc') !== undefined)
    return `gRPC :${textAt(probe, 'grpc', 'port')} ${textAt(probe, 'grpc', 'service')}`.trim();
  return `exec ${joined(at(probe, 'exec', 'command')).replaceAll(', ', ' ')}`;
};

const probeTiming = (probe: KubeObject): string =>
  t('sec.probe.timing', {
    period: textAt(probe, 'periodSeconds') || '10',
    timeout: textAt(probe, 'timeoutSeconds') || '1',
    failures: textAt(probe, 'failureThreshold') || '3',
  });

/**
 * The API has no field for the result of a probe: whether a container is ready and started follows from its
 * probes, and the kubelet writes an event for each failure.
 */
const probeResult = (kind: ProbeKind, { status, probeFailures }: ContainerContext, name: string): Cell => {
  if (!status) return plain('–');
  const startedAtMs = Date.parse(textAt(status, 'state', 'running', 'startedAt'));
  const failure = probeFailures?.find(
    (each) => each.probe === kind && (each.container === name || each.container === ''),
  );
  const failed =
    failure && t('sec.probe.failed', { time: formatClock(failure.atMs), message: failure.message });
  if (Number.isNaN(startedAtMs))
    return failed === undefined ? plain(t('sec.probe.notRun')) : toned(failed, 'idle');
  // A failure of a previous instance says nothing about the current one.
  const isCurrent = failure !== undefined && failure.atMs >= startedAtMs;
  const isPassing =
    kind === 'startup'
      ? status['started'] === true
      : kind === 'readiness'
        ? status['ready'] === true
        : !isCurrent;
  if (isPassing) return toned(t('sec.probe.passing'), 'ok');
  if (failed === undefined || !isCurrent) return toned(t('sec.probe.notYet'), 'pending');
  return toned(failed, kind === 'liveness' ? 'warn' : 'error');
};

const probeBlock = (container: KubeObject, context: ContainerContext): Block => {
  // A template has no container that could have been probed.
  const hasResults = context.status !== undefined || context.probeFailures !== undefined;
  return {
    form: 'table',
    title: t('sec.probes'),
    head: [t('sec.probe'), t('sec.probe.check'), ...(hasResults ? [t('sec.probe.result')] : [])],
    rows: probeKinds.flatMap((kind) => {
      const probe = at(container, `${kind}Probe`);
      if (probe === undefined) return [];
      const fields = fieldsOf(probe);
      return [
        [
          plain(t(`sec.probe.${kind}`)),
          mono(`${probeCheck(fields)} ${probeTiming(fields)}`),
          ...(hasResults ? [probeResult(kind, context, textAt(container, 'name'))] : []),
        ],
      ];
    }),
  };
};

const portsText = (container: KubeObject): string =>
  listAt(container, 'ports')
    .map((port) => {
      const name = textAt(port, 'name');
      return `${name === '' ? '' : `${name} `}${textAt(port, 'containerPort')}/${textAt(port, 'protocol') || 'TCP'}`;
    })
    .join(', ');

/** One container of a pod, or of the template of a workload. */
export const containerSection = (
  container: KubeObject,
  role: 'main' | 'init' | 'ephemeral',
  context: ContainerContext,
): Section => {
  const { status } = context;
  const name = textAt(container, 'name');
  const state = containerState(status);
  const before = fieldsOf(at(status, 'lastState', 'terminated'));
  const command = [joined(container['command']), joined(container['args'])].filter(Boolean).join(', ');
  return {
    id: `container-${name}`,
    title: t(`sec.container.${role}`, { name }),
    ...(state && { state }),
    blocks: blocks(
      {
        form: 'facts',
        facts: facts(
          [t('sec.image'), mono(textAt(container, 'image'))],
          [t('sec.command'), mono(command.replaceAll(', ', ' '))],
          [t('sec.ports'), mono(portsText(container))],
          [
            t('sec.restarts'),
            Number(status?.['restartCount'] ?? 0) > 0 ? textAt(status, 'restartCount') : '',
          ],
          [t('sec.started'), momentText(textAt(status, 'state', 'running', 'startedAt'))],
          [
            t('sec.lastExit'),
            Object.keys(before).length === 0
              ? undefined
              : toned(
                  [endedText(before), momentText(textAt(before, 'finishedAt'))].filter(Boolean).join(', '),
                  textAt(before, 'exitCode') === '0' ? 'idle' : 'warn',
                ),
          ],
        ),
      },
      resourceBlock(container),
      probeBlock(container, context),
      envBlock(container, context.namespace),
      mountBlock(container, context),
    ),
  };
};
