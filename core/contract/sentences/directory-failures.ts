/** Why a data directory, a configuration file, a network or an encryption key cannot be used, and what to do. */
export const directoryFailures = {
  'directory.unusable': 'cannot use the data directory {directory}: {why}',
  'directory.diskFull': 'the disk is full; free disk space and retry',
  'directory.quota': 'the disk quota is exceeded; free disk space and retry',
  'directory.readOnly': 'the disk is read-only; choose another directory with --data',
  'directory.denied': 'permission denied; change its owner or choose another directory with --data',
  'directory.noCluster': 'no cluster in {directory}; create one with `pilothouse up --data {directory}`',
  'directory.onlyPki':
    '{directory} contains pki/ but no cluster.yaml; restore cluster.yaml, or choose another directory with --data',
  'directory.newerFormat':
    '{directory} has data format {format}, and this version of Pilothouse reads formats up to {newest}; use the version that wrote it, or a newer one',
  'directory.damaged': '{path} is damaged: {why}; {remedy}',
  'directory.damaged.restore': 'restore it from a backup of this directory',
  'directory.damaged.rejoin': 'delete it and join again',
  'directory.damaged.journal':
    'delete it, then compare the output of pilothouse member list with cluster.yaml',
  'directory.damaged.schedule': 'delete it or set the schedule again',
  'directory.damaged.harden': 'delete it, then see what is left to do with pilothouse harden plan',
  'directory.damaged.upgrade': 'delete it, then check component versions with pilothouse upgrade plan',
  'directory.damaged.drill': 'delete it, then check the cluster with pilothouse doctor',
  'directory.flag':
    'the cluster in {directory} has {flag} {value}; remove the flag, or choose another directory with --data',
  'directory.flag.externalMembers':
    '--etcd-members does not go with --external-etcd, which has its own members',
  'directory.flag.stackedMembers': {
    one: '--etcd-members {members} goes with --topology external; stacked has a member on each of the {count} control plane',
    other:
      '--etcd-members {members} goes with --topology external; stacked has a member on each of the {count} control planes',
  },
  'directory.component.missing': 'host {host} has no manifest for {component}',
  'directory.component.notStopped': '{component} on host {host} is not stopped',

  'pki.missing': '{file} is missing; {remedy}',
  'pki.certificate': '{file} is not a valid certificate; {remedy}',
  'pki.key': '{file} is not a valid private key; {remedy}',
  'pki.kubeconfig': '{file} is not a valid kubeconfig; {remedy}',
  'pki.remedy.restore': 'restore pki/ from a backup of this directory',
  'pki.remedy.delete': 'delete it; the next start issues a new one',
  'pki.remedy.deletePair': 'delete {certificate} and {key}; the next start issues a new one',
  'pki.remedy.serviceAccounts':
    'service account tokens are signed with it: restore pki/ from a backup of this directory',

  'configuration.file': '{path}: {why}',
  'configuration.yaml': '{path} is not valid YAML: {why}',
  'configuration.fixFirst': '{path}: {why}; fix it first',
  'configuration.noRuntime':
    'spec.containerRuntimeEndpoints requires runtime cri (--container-runtime-endpoint requires --runtime cri)',
  'configuration.drills': 'a cluster for drills has simulated containers and its own etcd members',
  'configuration.stackedExternal': 'spec.externalEtcd requires topology external',
  'configuration.stackedMembers': 'spec.etcdMembers must equal spec.controlPlanes in the stacked topology',
  'configuration.noMembers': 'the external topology requires spec.etcdMembers or spec.externalEtcd',
  'configuration.ordinals': '{ordinals} must have as many entries as {count}',

  'network.none': 'no free loopback network between 127.16 and 127.253; stop another cluster first',
  'network.inUse': '{address} is in use by another program; stop it and retry',
  'network.notLocal':
    '{address} is not an address of this machine; loopback addresses in 127.0.0.0/8 are required',
  'network.denied': '{address} cannot be bound by this user: permission denied',
  'network.unbound': '{address} cannot be bound: {why}',

  'encryption.keyLost':
    '{file} is missing: stored Secrets cannot be read without its keys; restore it with pilothouse encryption import, or from a backup of this directory',
  'encryption.off': 'encryption at rest is not configured; turn it on with pilothouse encryption enable',
  'encryption.configured': 'encryption at rest is configured in {file}',
  'encryption.noOwnKey': 'the encryption configuration has no key of its own to rotate',
  'encryption.notLoaded':
    'the API server on {host} did not load the new encryption configuration; check its log, then run pilothouse encryption rotate again',
  'encryption.incomplete':
    'some objects are still encrypted with an old key; run pilothouse encryption rotate again',
  'encryption.snapshotKey':
    'the snapshot needs an encryption key that this cluster does not have ({why}); add the key to the encryption configuration, see encryption.previous.yaml or pilothouse encryption import',
  'encryption.unreadable': 'unable to transform key {key}: {why}',

  'harden.issuerInFlag':
    'API servers have an issuer in --oidc-issuer-url, which does not go with --authentication-config; move it to the file first',
  'harden.notApplied': 'nothing to roll back; pilothouse harden was not applied',
  'harden.rollingBack': 'hardening is being rolled back; finish that first with pilothouse harden rollback',

  'drain.daemonSets': 'cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore): {pods}',
  'drain.localStorage':
    'cannot delete Pods with local storage (use --delete-emptydir-data to override): {pods}',
  'drain.unmanaged': 'cannot delete Pods that declare no controller (use --force to override): {pods}',
  'drain.noDaemonSet': 'cannot delete {why}: {pods}',
  'drain.evict': 'error when evicting {pod}: {why}',
  'drain.evict.retry': 'error when evicting {pod} (will retry after {seconds}s): {why}',
  'drain.wait': 'error when waiting for pod {pod} to terminate: {why}',
  'drain.timeout': 'global timeout reached: {minutes}m0s',
} as const;
