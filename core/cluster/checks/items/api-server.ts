import { readFile, stat } from 'node:fs/promises';
import { APISERVER_FLAGS } from '../../../apiserver/config/flags.ts';
import { EtcdConnection } from '../../etcd-operator/connection.ts';
import * as proto from '../../../etcd/proto/index.ts';
import { certificatePath } from '../../../pki/index.ts';
import { loadBalancerAddress } from '../../config/addresses.ts';
import { PORTS } from '../../manifests/control-plane.ts';
import { fileFlagOf } from '../../encryption/configured-file.ts';
import { flagOf, IN_FLIGHT_DEFAULTS } from '../../monitor/in-flight-limits.ts';
import { labelOf, scanMetrics } from '../../monitor/scrape/prometheus-text.ts';
import { absent, bad, byFlags, fixedBy, ok, plural, warn, type CheckItem } from '../item.ts';
import type { Look } from '../look.ts';
import { anonymousStatus } from '../network-probes.ts';

const RECENT_MS = 86_400_000;

/** What our API server cannot be told does not exist; when it can, it is measured. */
const canBeTold = (...flags: readonly string[]): boolean =>
  flags.some((name) => Object.hasOwn(APISERVER_FLAGS, name));

const given = async (look: Look, name: string): Promise<readonly (string | undefined)[]> =>
  (await look.apiServers()).map((command) => flagOf(command, name));

const apiTargets = ({ targets }: Look) => targets.filter(({ component }) => component === 'kube-apiserver');

const replicas: CheckItem = {
  id: 'apiReplicas',
  title: 'Multiple API servers behind a load balancer',
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
      return bad(`${balancer} is not responding`, 'check the load balancer with pilothouse status');
    if (down.length > 0) return bad(`the API server on ${down.join(', ')} is not ready`, 'check its log');
    return answers.length >= 2
      ? ok(`${answers.length} API servers are ready behind ${balancer}`)
      : bad('single API server: restarting it causes an outage', 'run three control planes');
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
  title: 'Secrets are encrypted in etcd',
  async measure(look) {
    const head = await storedSecret(look);
    const stored =
      head === undefined
        ? 'no Secret stored yet'
        : `a stored Secret begins with ${JSON.stringify(head.slice(0, 16))}`;
    const configured = (await given(look, 'encryption-provider-config')).every((file) => file !== undefined);
    if (!configured)
      return warn(`encryption at rest is not configured; ${stored}`, 'pilothouse encryption enable');
    if (head !== undefined && !head.startsWith(ENCRYPTED))
      return warn(`configured, but ${stored}`, 'pilothouse encryption rotate');
    return ok(head === undefined ? 'configured; no Secret stored yet' : `configured; ${stored}`);
  },
};

const audit: CheckItem = {
  id: 'auditLog',
  title: 'Audit logging is enabled',
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
      return warn(
        'audit logging is not configured',
        'set --audit-policy-file and --audit-log-path on every API server',
      );
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
      ? ok(`${paths[0]!} is being written`)
      : warn(
          'an audit log is configured, but nothing was written in the last day',
          'check whether the audit policy matches any requests',
        );
  },
};

const limits: CheckItem = {
  id: 'requestLimits',
  title: 'In-flight requests are limited',
  async measure(look) {
    const numbers = (values: readonly (string | undefined)[], fallback: number): number[] =>
      values.map((value) => (value === undefined ? fallback : Number(value)));
    const reads = numbers(await given(look, 'max-requests-inflight'), IN_FLIGHT_DEFAULTS.readOnly);
    const writes = numbers(await given(look, 'max-mutating-requests-inflight'), IN_FLIGHT_DEFAULTS.mutating);
    if ([...reads, ...writes].some((limit) => limit === 0))
      return fixedBy(
        warn(
          'an API server has no limit on in-flight requests',
          'set --max-requests-inflight and --max-mutating-requests-inflight',
        ),
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
      `limits per API server: ${reads[0]} read-only, ${writes[0]} mutating; ${plural(refused, 'request')} rejected so far`,
    );
  },
};

const ADMISSION_METRIC = 'apiserver_admission_controller_admission_duration_seconds_count';
/** What upstream turns on on its own and production relies on, and what kubeadm adds. */
const WANTED_PLUGINS = ['NodeRestriction', 'ServiceAccount', 'LimitRanger', 'ResourceQuota', 'PodSecurity'];

const admission: CheckItem = {
  id: 'admissionPlugins',
  title: 'Admission plugins are enabled',
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
        bad(`disabled: ${off.join(', ')}`, 'remove them from --disable-admission-plugins'),
        byFlags('kube-apiserver', {
          'disable-admission-plugins':
            [...disabled].filter((name) => !WANTED_PLUGINS.includes(name)).join(',') || null,
        }),
      );
    if (!enabled.every((names) => names.includes('NodeRestriction')))
      return fixedBy(
        warn(
          'kubelets can modify other nodes: NodeRestriction is disabled',
          'add it to --enable-admission-plugins',
        ),
        byFlags('kube-apiserver', {
          'enable-admission-plugins': [...new Set([...enabled.flat(), 'NodeRestriction'])].join(','),
        }),
      );
    const seen = WANTED_PLUGINS.filter((name) => ran.has(name));
    const unseen = WANTED_PLUGINS.filter((name) => !ran.has(name));
    const text = `${seen.join(', ')} have processed requests`;
    return unseen.length === 0 ? ok(text) : ok(`${text}; ${unseen.join(', ')} had no requests yet`);
  },
};

const anonymous: CheckItem = {
  id: 'anonymousOff',
  title: 'Anonymous requests are rejected',
  async measure(look) {
    const authority = await readFile(certificatePath(look.dataDirectory, 'ca'), 'utf8');
    const statuses = await Promise.all(
      look.controlPlanes.map(({ address }) =>
        anonymousStatus(`https://${address}:${PORTS.apiServer}/api/v1/namespaces`, authority),
      ),
    );
    if (statuses.some((status) => status < 400))
      return bad(
        'anonymous users can list namespaces',
        'remove the role bindings of system:anonymous and system:unauthenticated',
      );
    if (statuses.every((status) => status === 401))
      return ok('requests without credentials are rejected with 401');
    return warn(
      'requests without credentials are authenticated as system:anonymous and denied by RBAC (403)',
      'health probes use this; otherwise limit it to /livez, /readyz and /healthz in --authentication-config',
    );
  },
};

const oidc: CheckItem = {
  id: 'oidc',
  title: 'Users authenticate with an identity provider',
  async measure(look) {
    if (!canBeTold('oidc-issuer-url'))
      return absent(
        'this API server does not support OpenID Connect; users authenticate with client certificates',
        'issue a short-lived certificate to each user',
      );
    const [issuer] = await given(look, 'oidc-issuer-url');
    return issuer === undefined
      ? warn(
          'users authenticate with client certificates, which cannot be revoked',
          'set --oidc-issuer-url and --oidc-client-id',
        )
      : ok(`tokens from ${issuer} are accepted`);
  },
};

export const API_ITEMS = { replicas, encryption, audit, limits, admission, anonymous, oidc } as const;
