import { expect, test } from 'vitest';
import { DEFAULT_PLUGINS, selectPlugins } from './selection.ts';

test('without flags the defaults are on; what is enabled takes its place in the order', () => {
  const chosen = selectPlugins(['NodeRestriction'], ['Priority', 'AlwaysPullImages']);
  expect(selectPlugins([], [])).toEqual(DEFAULT_PLUGINS);
  expect(chosen.slice(0, 4)).toEqual([
    'NamespaceLifecycle',
    'LimitRanger',
    'ServiceAccount',
    'NodeRestriction',
  ]);
  expect(chosen).not.toContain('Priority');
  expect(chosen.at(-1)).toBe('ResourceQuota');
});

test.each([
  [['Nonsense'], [], 'enable-admission-plugins plugin "Nonsense" is unknown'],
  [[], ['Nonsense'], 'disable-admission-plugins plugin "Nonsense" is unknown'],
  [
    ['Priority'],
    ['Priority'],
    '[Priority] in enable-admission-plugins and disable-admission-plugins overlapped',
  ],
])('enabling %j and disabling %j is refused', (enabled, disabled, message) => {
  expect(() => selectPlugins(enabled, disabled)).toThrow(message);
});

test('the default admission plugins are those of upstream', () => {
  expect([...DEFAULT_PLUGINS].sort()).toEqual([
    ...[
      'CertificateApproval',
      'CertificateSigning',
      'CertificateSubjectRestriction',
      'ClusterTrustBundleAttest',
    ],
    ...[
      'DefaultIngressClass',
      'DefaultStorageClass',
      'DefaultTolerationSeconds',
      'JobValidation',
      'LimitRanger',
    ],
    ...['MutatingAdmissionPolicy', 'MutatingAdmissionWebhook', 'NamespaceLifecycle'],
    ...['NodeDeclaredFeatureValidator', 'PersistentVolumeClaimResize', 'PodGroupProtection'],
    ...['PodGroupWorkloadExists', 'PodResizeValidator', 'PodSecurity', 'PodTopologyLabels', 'Priority'],
    ...['ResourceQuota', 'RuntimeClass', 'ServiceAccount', 'StorageObjectInUseProtection'],
    ...['TaintNodesByCondition', 'ValidatingAdmissionPolicy', 'ValidatingAdmissionWebhook'],
  ]);
});
