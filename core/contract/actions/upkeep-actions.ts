import * as v from 'valibot';
import { hardeningWishes, type HardeningWishes } from './hardening-wishes.ts';
import { defineAction, name } from './define.ts';

const hardeningWords = ({ skip, backupDirectory, oidc }: HardeningWishes): readonly string[] => [
  ...(skip.length === 0 ? [] : ['--skip', skip.join(',')]),
  ...(backupDirectory === null ? [] : ['--backup-directory', backupDirectory]),
  ...(oidc === null
    ? []
    : [
        '--oidc-issuer-url',
        oidc.issuerUrl,
        '--oidc-client-id',
        oidc.clientId,
        '--oidc-username-claim',
        oidc.usernameClaim,
        ...(oidc.groupsClaim === null ? [] : ['--oidc-groups-claim', oidc.groupsClaim]),
      ]),
];

const rolledOut = { canPause: true, isHeldByItsHost: true } as const;

export const upkeepActions = {
  'upgrade.apply': defineAction(
    'upgrade.apply',
    { version: name },
    {
      icon: 'upgrade',
      subject: ({ version }) => version,
      words: ({ version }) => ['upgrade', 'apply', version],
      ...rolledOut,
    },
  ),
  'upgrade.rollback': defineAction(
    'upgrade.rollback',
    {},
    {
      icon: 'restart',
      words: () => ['upgrade', 'rollback'],
      ...rolledOut,
    },
  ),
  /** Rolls measures out host by host. */
  'harden.apply': defineAction(
    'harden.apply',
    { wishes: hardeningWishes },
    {
      icon: 'lock',
      words: ({ wishes }) => ['harden', 'apply', ...hardeningWords(wishes)],
      ...rolledOut,
    },
  ),
  'harden.rollback': defineAction(
    'harden.rollback',
    {},
    {
      icon: 'restart',
      words: () => ['harden', 'rollback'],
      ...rolledOut,
    },
  ),
  'encryption.enable': defineAction(
    'encryption.enable',
    {},
    {
      icon: 'lock',
      words: () => ['encryption', 'enable'],
    },
  ),
  'encryption.rotate': defineAction(
    'encryption.rotate',
    {},
    {
      icon: 'restart',
      words: () => ['encryption', 'rotate'],
    },
  ),
  /** Null: all of them. */
  'certificates.renew': defineAction(
    'certificates.renew',
    { names: v.nullable(v.pipe(v.array(name), v.maxLength(256))) },
    {
      icon: 'cert',
      title: ({ names }) => (names === null ? { variant: '.all' } : { values: { count: names.length } }),
      words: ({ names }) => {
        if (names === null) return ['certs', 'renew', 'all'];
        return names.length === 1 ? ['certs', 'renew', ...names] : undefined;
      },
      canPause: true,
      isOffline: true,
    },
  ),
  /** Works on every cluster, the other actions on those that this console hosts. */
  'node.drain': defineAction(
    'node.drain',
    {
      node: name,
      ignoreDaemonSets: v.boolean(),
      deleteEmptyDirData: v.boolean(),
      force: v.boolean(),
      /** Null: as each pod says. */
      gracePeriodSeconds: v.nullable(v.number()),
    },
    {
      icon: 'unplug',
      title: ({ node }) => ({ values: { node } }),
      subject: ({ node }) => node,
      line: (action, kubeconfigPath) => [
        'kubectl',
        ...(kubeconfigPath === undefined ? [] : ['--kubeconfig', kubeconfigPath]),
        'drain',
        action.node,
        ...(action.ignoreDaemonSets ? ['--ignore-daemonsets'] : []),
        ...(action.deleteEmptyDirData ? ['--delete-emptydir-data'] : []),
        ...(action.force ? ['--force'] : []),
        ...(action.gracePeriodSeconds === null ? [] : [`--grace-period=${action.gracePeriodSeconds}`]),
      ],
      canPause: true,
    },
  ),
};
