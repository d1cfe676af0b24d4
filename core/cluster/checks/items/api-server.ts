import { readFile, stat } from 'node:fs/promises';
import { parseAuthenticationConfiguration } from '../../../apiserver/config/files/authentication-configuration.ts';
import { EtcdConnection } from '../../etcd-operator/connection.ts';
import * as proto from '../../../etcd/proto/index.ts';
import { certificatePath } from '../../../pki/index.ts';
import { loadBalancerAddress } from '../../config/addresses.ts';
import { PORTS } from '../../manifests/control-plane.ts';
import { fileFlagOf } from '../../data-folder/configured-file.ts';
import { flagOf, IN_FLIGHT_DEFAULTS } from '../../data-folder/in-flight-limits.ts';
import { labelOf, scanMetrics } from '../../monitor/scrape/prometheus-text.ts';
import { say, together, verbatim } from '../../../contract/index.ts';
import { bad, byFlags, fixedBy, ok, warn, type CheckItem, type Fix } from '../item.ts';
import type { Look } from '../look.ts';
import { anonymousStatus } from '../network-probes.ts';

const RECENT_MS = 86_400_000;
const HARDEN: Fix = { kind: 'page', path: '/harden' };
const HARDEN_COMMAND = verbatim('pilothouse harden apply');

const given = async (look: Look, name: string): Promise<readonly (string | undefined)[]> =>
  (await look.apiServers()).map((command) => flagOf(command, name));

const apiTargets = ({ targets }: Look) => targets.filter(({ component }) => component === 'kube-apiserver');

const replicas: CheckItem = {
  id: 'apiReplicas',
  async measure(look) {
    const answers = await Promise.all(
      look.controlPlanes.map(async ({ name, address }) => {
        const url = `https://${address}:${PORTS.apiServer}/readyz`;
        const status = await look.access.ask({ url, trust: 'cluster' }).then(
          (answer) => answer.status,
          () => 0,
        );
        return { name, isReady: status === 200 };
      }),
    );
    const down = answers.filter(({ isReady }) => !isReady).map(({ name }) => name);
    const balancer = `https://${loadBalancerAddress({ network: look.config.spec.network })}:${PORTS.apiServer}`;
    const front = await look.access.ask({ url: `${balancer}/readyz`, trust: 'cluster' }).then(
      (answer) => answer.status,
      () => 0,
    );
    if (front !== 200)
      return bad(say('found.apiReplicas.balancer', { balancer }), say('advice.apiReplicas.balancer'));
    if (down.length > 0)
      return bad(say('found.apiReplicas.down', { hosts: down.join(', ') }), say('advice.apiReplicas.down'));
    return answers.length >= 2
      ? ok(say('found.apiReplicas.ok', { count: answers.length, balancer }))
      : bad(say('found.apiReplicas.single'), say('advice.apiReplicas.single'));
  },
};

const RANGE = {
  path: '/etcdserverpb.KV/Range',
  request: proto.RangeRequest,
  response: proto.RangeResponse,
} as const;
const SECRETS = '/registry/secrets/';
const ENCRYPTED = 'k8s:enc:';

/** The first bytes of a stored Secret, as a thief of the disk finds them; undefined when there is none. */
const storedSecret = async ({ etcd }: Look): Promise<string | undefined> => {
  const connection = new EtcdConnection(etcd.endpoints[0] ?? '', etcd.tls);
  try {
    const { kvs } = await connection.call(RANGE, {
      key: Buffer.from(SECRETS),
      rangeEnd: Buffer.from(`${SECRETS.slice(0, -1)}0`),
      limit: 1,
      serializable: true,
    });
    const value = kvs[0]?.value;
    return value && Buffer.from(value).toString('latin1', 0, 32);
  } finally {
    connection.close();
  }
};

const encryption: CheckItem = {
  id: 'encryptionAtRest',
  async measure(look) {
    const head = await storedSecret(look);
    const stored =
      head === undefined
        ? say('found.encryptionAtRest.noSecret')
        : say('found.encryptionAtRest.stored', { head: JSON.stringify(head.slice(0, 16)) });
    const configured = (await given(look, 'encryption-provider-config')).every((file) => file !== undefined);
    if (!configured)
      return fixedBy(
        warn(together([say('found.encryptionAtRest.off'), stored]), verbatim('pilothouse encryption enable')),
        HARDEN,
      );
    const found = together([say('found.encryptionAtRest.on'), stored]);
    return head !== undefined && !head.startsWith(ENCRYPTED)
      ? warn(found, verbatim('pilothouse encryption rotate'))
      : ok(found);
  },
};

const audit: CheckItem = {
  id: 'auditLog',
  async measure(look) {
    const [policies, paths] = await Promise.all([
      given(look, 'audit-policy-file'),
      look
        .apiServers()
        .then((commands) =>
          commands.map((command) => fileFlagOf(look.dataDirectory, command, 'audit-log-path')),
        ),
    ]);
    if (policies.some((file) => file === undefined) || paths.some((path) => path === undefined))
      return fixedBy(warn(say('found.auditLog.off'), HARDEN_COMMAND), HARDEN);
    const newest = await Promise.all(
      paths.map((path) =>
        stat(path!).then(
          ({ mtimeMs }) => mtimeMs,
          () => 0,
        ),
      ),
    );
    const isWritten = newest.every((ms) => look.clock.nowMs() - ms < RECENT_MS);
    return isWritten
      ? ok(say('found.auditLog.ok', { path: paths[0]! }))
      : warn(say('found.auditLog.silent'), say('advice.auditLog.silent'));
  },
};

const limits: CheckItem = {
  id: 'requestLimits',
  async measure(look) {
    const numbers = (values: readonly (string | undefined)[], fallback: number): number[] =>
      values.map((value) => (value === undefined ? fallback : Number(value)));
    const reads = numbers(await given(look, 'max-requests-inflight'), IN_FLIGHT_DEFAULTS.readOnly);
    const writes = numbers(await given(look, 'max-mutating-requests-inflight'), IN_FLIGHT_DEFAULTS.mutating);
    if ([...reads, ...writes].some((limit) => limit === 0))
      return fixedBy(
        warn(say('found.requestLimits.none'), say('advice.requestLimits.none')),
        byFlags('kube-apiserver', {
          'max-requests-inflight': `${IN_FLIGHT_DEFAULTS.readOnly}`,
          'max-mutating-requests-inflight': `${IN_FLIGHT_DEFAULTS.mutating}`,
        }),
      );
    let refused = 0;
    for (const target of apiTargets(look))
      for (const text of await look.pages(target))
        scanMetrics(
          text,
          new Map([['apiserver_dropped_requests_total', true]]),
          (_is, _labels, value) => (refused += value),
        );
    return ok(
      say('found.requestLimits.ok', { reads: reads[0] ?? 0, writes: writes[0] ?? 0, count: refused }),
    );
  },
};

const ADMISSION_METRIC = 'apiserver_admission_controller_admission_duration_seconds_count';
/** What upstream turns on on its own and production relies on, and what kubeadm adds. */
const WANTED_PLUGINS = ['NodeRestriction', 'ServiceAccount', 'LimitRanger', 'ResourceQuota', 'PodSecurity'];

const admission: CheckItem = {
  id: 'admissionPlugins',
  async measure(look) {
    const ran = new Set<string>();
    for (const target of apiTargets(look))
      for (const text of await look.pages(target))
        scanMetrics(text, new Map([[ADMISSION_METRIC, true]]), (_is, labels) =>
          ran.add(labelOf(labels, 'name')),
        );
    const disabled = new Set(
      (await given(look, 'disable-admission-plugins')).flatMap((value) => value?.split(',') ?? []),
    );
    const enabled = (await given(look, 'enable-admission-plugins')).map((value) => value?.split(',') ?? []);
    const off = WANTED_PLUGINS.filter((name) => disabled.has(name));
    if (off.length > 0)
      return fixedBy(
        bad(say('found.admissionPlugins.off', { names: off.join(', ') }), say('advice.admissionPlugins.off')),
        byFlags('kube-apiserver', {
          'disable-admission-plugins':
            [...disabled].filter((name) => !WANTED_PLUGINS.includes(name)).join(',') || null,
        }),
      );
    if (!enabled.every((names) => names.includes('NodeRestriction')))
      return fixedBy(
        warn(say('found.admissionPlugins.nodes'), say('advice.admissionPlugins.nodes')),
        byFlags('kube-apiserver', {
          'enable-admission-plugins': [...new Set([...enabled.flat(), 'NodeRestriction'])].join(','),
        }),
      );
    const seen = WANTED_PLUGINS.filter((name) => ran.has(name));
    const unseen = WANTED_PLUGINS.filter((name) => !ran.has(name));
    return ok(
      together([
        ...(seen.length > 0 ? [say('found.admissionPlugins.ok', { names: seen.join(', ') })] : []),
        ...(unseen.length > 0 ? [say('found.admissionPlugins.unseen', { names: unseen.join(', ') })] : []),
      ]),
    );
  },
};

const anonymous: CheckItem = {
  id: 'anonymousOff',
  async measure(look) {
    const authority = await readFile(certificatePath(look.dataDirectory, 'ca'), 'utf8');
    const statuses = await Promise.all(
      look.controlPlanes.map(({ address }) =>
        anonymousStatus(`https://${address}:${PORTS.apiServer}/api/v1/namespaces`, authority),
      ),
    );
    if (statuses.some((status) => status < 400))
      return bad(say('found.anonymousOff.open'), say('advice.anonymousOff.open'));
    if (statuses.every((status) => status === 401)) return ok(say('found.anonymousOff.ok'));
    return warn(say('found.anonymousOff.denied'), say('advice.anonymousOff.denied'));
  },
};

/** Issuers whose tokens every API server accepts, by its flags and its file. */
export const issuersOf = async (look: Look): Promise<readonly string[]> => {
  const commands = await look.apiServers();
  const each = await Promise.all(
    commands.map(async (command) => {
      const issuer = flagOf(command, 'oidc-issuer-url');
      const file = fileFlagOf(look.dataDirectory, command, 'authentication-config');
      if (file === undefined) return issuer === undefined ? [] : [issuer];
      const { jwt } = parseAuthenticationConfiguration(await readFile(file, 'utf8'));
      return jwt.map((one) => one.issuer.url);
    }),
  );
  return (each[0] ?? []).filter((issuer) => each.every((list) => list.includes(issuer)));
};

const oidc: CheckItem = {
  id: 'oidc',
  async measure(look) {
    const issuers = await issuersOf(look);
    return issuers.length === 0
      ? fixedBy(warn(say('found.oidc.off'), say('advice.oidc.off')), HARDEN)
      : ok(say('found.oidc.ok', { issuer: issuers.join(', ') }));
  },
};

export const API_ITEMS = { replicas, encryption, audit, limits, admission, anonymous, oidc } as const;
