import { expect, test } from 'vitest';
import { ANONYMOUS_PATHS } from '../manifests/authentication-config.ts';
import { parse } from 'yaml';
import { parseAuthenticationConfiguration } from '../../apiserver/config/files/authentication-configuration.ts';
import { readApiServerConfig } from '../../apiserver/config/config.ts';
import type { HardeningWishes } from '../../contract/index.ts';
import { defaultSpec, type ClusterConfig } from '../config/config.ts';
import { planHosts } from '../config/hosts.ts';
import { auditPolicyYaml } from '../manifests/audit-policy.ts';
import { authenticationConfigYaml } from '../manifests/authentication-config.ts';
import { initialMembers, manifestsOf } from '../manifests/control-plane.ts';
import { NO_WISHES } from './apply.ts';
import { commandIn, type HardeningFacts } from './draft.ts';
import { draftHardening, isEmptyDraft } from './plan.ts';
import { withoutHardening } from './rollback.ts';
import { withEarlier, type HardeningState } from './state.ts';

const DATA = '/data';
const config: ClusterConfig = {
  apiVersion: 'pilothouse.dev/v1',
  kind: 'Cluster',
  metadata: { name: 'desk' },
  spec: defaultSpec(40),
};

/** The files of a new cluster, edited as a person would. */
const factsOf = (edit: (text: string) => string = (text) => text): HardeningFacts => ({
  dataDirectory: DATA,
  nodes: ['cp-1'],
  manifests: planHosts(config).flatMap((host) => {
    const etcd = { members: initialMembers(config), state: 'new' } as const;
    const guards = { isEncrypted: true, isAudited: true };
    const texts = manifestsOf({ config, host, version: 'v1.36.0', etcd, guards });
    return [...texts].map(([name, text]) => {
      const component = name.replace('.yaml', '');
      const path = `${DATA}/hosts/${host.name}/manifests/${name}`;
      return { host: host.name, component, path, text: component === 'kube-apiserver' ? edit(text) : text };
    });
  }),
  files: new Map([
    [`${DATA}/authentication.yaml`, authenticationConfigYaml()],
    [`${DATA}/audit-policy.yaml`, auditPolicyYaml([])],
  ]),
  schedule: { enabled: false, everyMinutes: 1440, keep: 7 },
  exposed: [],
});

const statesOf = (facts: HardeningFacts, wishes: HardeningWishes = NO_WISHES) =>
  Object.fromEntries(draftHardening(facts, wishes).measures.map(({ id, state }) => [id, state]));

const DECISIONS = { externalIPs: 'planned', alwaysPullImages: 'planned', eventRateLimit: 'planned' };
const CHOICES = { oidc: 'choice', backups: 'choice' };

test('a new cluster lacks only what is a decision of its user', () => {
  const states = statesOf(factsOf());
  expect(states).toEqual({
    ...Object.fromEntries(Object.keys(states).map((id) => [id, 'done'])),
    ...DECISIONS,
    ...CHOICES,
  });
});

const removeFlag = (text: string, ...names: readonly string[]): string =>
  text
    .split('\n')
    .filter((line) => !names.some((name) => line.includes(`--${name}`)))
    .join('\n');

const addFlag = (text: string, flag: string): string =>
  text.replace(/^( *- )--allow-privileged=true$/m, `$1--allow-privileged=true\n$1${flag}`);

const WEAK = (text: string): string =>
  addFlag(
    addFlag(
      addFlag(
        removeFlag(
          text.replace('Node,RBAC', 'AlwaysAllow').replace('NodeRestriction', 'AlwaysAdmit'),
          'authentication-config',
          'audit-',
          'encryption-',
          'profiling',
          'service-account-extend',
        ),
        '--anonymous-auth=true',
      ),
      '--token-auth-file=/tokens.csv',
    ),
    '--tls-cipher-suites=TLS_RSA_WITH_AES_128_CBC_SHA',
  );

const WISHES: HardeningWishes = {
  skip: [],
  backupDirectory: '/elsewhere',
  oidc: {
    issuerUrl: 'https://issuer.example',
    clientId: 'desk',
    usernameClaim: 'email',
    groupsClaim: 'groups',
  },
};

test('a weak cluster gets everything, and the API server understands what it gets', () => {
  const { draft, measures } = draftHardening(
    { ...factsOf(WEAK), exposed: ['pki/ca.key has mode 644'] },
    WISHES,
  );
  expect(measures.filter(({ state }) => state !== 'planned').map(({ id }) => id)).toEqual(['requestLimits']);
  const server = draft.manifestEdits.find(({ component }) => component === 'kube-apiserver')!;
  const command = commandIn(server.after).slice(1);
  expect(command.filter((word) => /anonymous-auth|token-auth-file|cipher|AlwaysA[ld]/.test(word))).toEqual(
    [],
  );
  expect(
    readApiServerConfig(command.map((word) => word.replaceAll('$(PILOTHOUSE_DATA)', DATA))),
  ).toMatchObject({ authorization: expect.anything() as unknown });
  expect(command).toContain('--audit-log-path=$(PILOTHOUSE_DATA)/audit/cp-1.log');
  const written = new Map(draft.fileEdits.map(({ path, after }) => [path, after]));
  expect(parseAuthenticationConfiguration(written.get(`${DATA}/authentication.yaml`)!)).toMatchObject({
    anonymous: { enabled: true, paths: ANONYMOUS_PATHS },
    jwt: [{ issuer: { url: 'https://issuer.example', audiences: ['desk'] } }],
  });
  expect(parse(written.get(`${DATA}/admission.yaml`)!)).toMatchObject({
    plugins: [{ name: 'EventRateLimit' }],
  });
  expect([draft.isEncrypting, draft.closesFiles, draft.schedule]).toEqual([
    true,
    true,
    { enabled: true, everyMinutes: 1440, keep: 7, directory: '/elsewhere' },
  ]);
});

test('a hardened cluster has nothing left to do', () => {
  const facts = factsOf(WEAK);
  const { draft } = draftHardening(facts, WISHES);
  const after = new Map(draft.manifestEdits.map(({ path, after: text }) => [path, text]));
  const hardened: HardeningFacts = {
    ...facts,
    manifests: facts.manifests.map((one) => ({ ...one, text: after.get(one.path) ?? one.text })),
    files: new Map([
      ...facts.files,
      ...draft.fileEdits.map(({ path, after: text }) => [path, text] as const),
    ]),
    schedule: draft.schedule,
  };
  expect(isEmptyDraft(draftHardening(hardened, WISHES).draft)).toBe(true);
  expect(isEmptyDraft(draftHardening(hardened, NO_WISHES).draft)).toBe(true);
});

test('a roll-back restores flags, except those that somebody has changed since', () => {
  const [edit] = draftHardening(factsOf(WEAK), WISHES).draft.manifestEdits;
  const { text, after, flags } = edit!;
  const sorted = (manifest: string): string[] => [...commandIn(manifest)].sort();
  expect(sorted(withoutHardening(after, [...flags]))).toEqual(sorted(text));
  const later = after.replace('--profiling=false', '--profiling=maybe');
  expect(commandIn(withoutHardening(later, [...flags]))).toContain('--profiling=maybe');
});

test('measures that are left out change nothing', () => {
  const { draft, measures } = draftHardening(factsOf(), {
    ...NO_WISHES,
    skip: ['externalIPs', 'alwaysPullImages', 'eventRateLimit'],
  });
  expect(isEmptyDraft(draft)).toBe(true);
  expect(measures.filter(({ state }) => state === 'skipped')).toHaveLength(3);
});

test('a broken authentication file is named with what is wrong in it', () => {
  const facts = { ...factsOf(), files: new Map([[`${DATA}/authentication.yaml`, 'kind: Nope\n']]) };
  expect(() => draftHardening(facts, NO_WISHES)).toThrow(/^\/data\/authentication\.yaml: .*fix it first$/);
});

test('a resumed call keeps what the first one found', () => {
  const base: HardeningState = {
    phase: 'applying',
    startedAt: '2026-01-01T00:00:00Z',
    wishes: NO_WISHES,
    manifests: [{ host: 'cp-1', component: 'etcd', flags: [{ name: 'a', before: '1', after: '2' }] }],
    files: [{ path: '/f', before: null, after: 'one' }],
    schedule: null,
    isEncrypting: true,
    snapshot: '/s.db',
  };
  const again: HardeningState = {
    ...base,
    manifests: [
      {
        host: 'cp-1',
        component: 'etcd',
        flags: [
          { name: 'a', before: '2', after: '3' },
          { name: 'b', before: null, after: 'x' },
        ],
      },
    ],
    files: [{ path: '/f', before: 'one', after: 'two' }],
    isEncrypting: false,
    snapshot: null,
  };
  expect(withEarlier(again, base)).toEqual({
    ...base,
    manifests: [
      {
        host: 'cp-1',
        component: 'etcd',
        flags: [
          { name: 'a', before: '1', after: '3' },
          { name: 'b', before: null, after: 'x' },
        ],
      },
    ],
    files: [{ path: '/f', before: null, after: 'two' }],
  });
});
