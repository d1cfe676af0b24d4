/** A machine that joins the cluster. */
export const addNode = {
  'addNode.button': 'Add node',
  'addNode.title': 'Add a node',
  'addNode.none': 'This cluster has no cluster-info in kube-public, so machines cannot join it with a token.',
  'addNode.exposed': 'Reached over the network',
  'addNode.exposed.local': 'Reached on this machine only',
  'addNode.exposed.api': 'API server',
  'addNode.exposed.node': 'New node',
  'addNode.exposed.node.text': 'port 10250 of its kubelet, on its own address',
  'addNode.loopback': 'Only this machine reaches this address. Other machines cannot join yet.',
  'addNode.loopback.how':
    'To open port 6443 of one address to your network, stop the cluster and start it once with:',
  'addNode.ask':
    'Creates a bootstrap token. Until it expires, anyone who has it can add nodes to this cluster.',
  'addNode.create': 'Create token',
  'addNode.cancel': 'Cancel',
  'addNode.close': 'Close',
  'addNode.command': 'Run this on the new machine',
  'addNode.kubeadm': 'Or, for a kubelet of the same minor version:',
  'addNode.expires': 'Token {id} expires on {time}.',
  'addNode.progress': 'Joined nodes',
  'addNode.waiting': 'Waiting for a machine to join.',
  'addNode.step.registered': 'is registered',
  'addNode.step.starting': 'is starting',
  'addNode.step.ready': 'is ready',
} as const;
