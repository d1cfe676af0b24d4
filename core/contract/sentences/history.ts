/** What the console says about stored objects of another moment, and about restoring them. */
export const history = {
  'failure.history.encrypted':
    '{key} is encrypted ({prefix}) and no given key decrypts it; add the EncryptionConfiguration that has the key',
  'failure.history.noObject': '{key} holds no Kubernetes object',
  'failure.history.unreadable': 'cannot read {key}: {why}',
  'failure.history.absent': '{key} does not exist at that moment',
  'failure.history.notServed':
    'the server does not serve {kind} in {version}; restore its CustomResourceDefinition first',
  'failure.history.terminating': 'the object is being deleted; restore it again when it is gone',
  'failure.history.compacted':
    'revision {revision} was compacted; etcd has revisions {oldest} to {newest}, choose one of these or a snapshot',
  'failure.history.future': 'revision {revision} does not exist yet; the newest is {newest}',
  'failure.history.tooMany':
    'these are more than {max} objects; choose a namespace, or restore the complete snapshot with pilothouse snapshot restore',
  'failure.history.cancelled': 'stopped before it was finished; restored objects stay',
  'failure.history.foreign':
    'the etcd of this cluster is not accessible; choose a snapshot file to read older objects',
  'helm.warn.hook': 'hook {kind} {name} is not run',
  'history.skip.controlled': 'recreated by its controller, {kind} {name}',
  'history.warn.rescheduled': 'the scheduler chooses a node again',
  'history.warn.volume': 'it binds to volume {volume} only if that volume still exists and is available',
  'history.warn.token': 'the token belongs to the previous ServiceAccount and will be deleted',
  'history.warn.clusterIp': 'the address {address} is in use; the Service gets another one',
  'history.warn.namespace': 'namespace {namespace} does not exist and is restored first',
  'history.warn.owner': 'its owner {kind} {name} does not exist; restored without it',
} as const;
