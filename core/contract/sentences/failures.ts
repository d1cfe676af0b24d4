/** Why the host refused a call or could not answer it: what failed, and what to do. */
export const failures = {
  'failure.readOnly': '{cluster} is read-only in this console; allow changes first',
  'failure.noCluster': 'cluster {id} not found',
  'failure.busy': '"{command}" is in progress; wait until it finishes',
  'failure.paused': '"{command}" is paused; wait until it finishes',
  'failure.hostedElsewhere': 'another process hosts {cluster}; stop it there first',
  'failure.stopping': '{cluster} is stopping; start it when it has stopped',
  'failure.servedHere':
    '{cluster} is hosted by the command that serves this console; interrupt that command to stop it',
  'failure.notChosen': 'the {what} {path} was not chosen by a person; choose it in the file dialog',
  'failure.unreached.ConnectionRefused':
    'connection refused by the API server; start the cluster or one of its control planes ({detail})',
  'failure.unreached.ConnectionLost':
    'the connection to the API server was lost; retry, and check its control planes if the problem persists ({detail})',
  'failure.unreached.NameNotResolved':
    'cannot resolve the name of the API server; check the address in the kubeconfig ({detail})',
  'failure.unreached.TlsFailed':
    'TLS verification failed; check the certificates of the API server and of the kubeconfig ({detail})',
  'failure.unreached.ProxyFailed':
    'the proxy rejected the connection to the API server; check the proxy in the kubeconfig ({detail})',
  'failure.unreached.TimedOut':
    'the API server did not respond in time; check whether its host is paused or isolated ({detail})',
  'failure.unreached.Closed': 'the connection was closed by this console; retry ({detail})',
  'failure.serverExpired':
    'the certificate of the API server, or of the CA that signed it, has expired; renew it (pilothouse certs renew all or kubeadm certs renew all) ({detail})',
  'failure.clientExpired':
    'the client certificate in the kubeconfig has expired; get a new kubeconfig and open it again ({detail})',
  'failure.unauthorized':
    'the API server rejected the credentials of this kubeconfig ({detail}); sign in again, or get a new kubeconfig from the cluster administrator and open it',
} as const;
