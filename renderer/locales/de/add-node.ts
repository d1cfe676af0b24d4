export const addNode = {
  'addNode.button': 'Node hinzufügen',
  'addNode.title': 'Node hinzufügen',
  'addNode.none':
    'Dieser Cluster hat kein cluster-info in kube-public; Rechner können ihm nicht mit einem Token beitreten.',
  'addNode.exposed': 'Über das Netzwerk erreichbar',
  'addNode.exposed.local': 'Nur auf diesem Rechner erreichbar',
  'addNode.exposed.api': 'API-Server',
  'addNode.exposed.node': 'Neuer Node',
  'addNode.exposed.node.text': 'Port 10250 seines Kubelets, auf seiner eigenen Adresse',
  'addNode.loopback':
    'Diese Adresse erreicht nur dieser Rechner. Andere Rechner können noch nicht beitreten.',
  'addNode.loopback.how':
    'Um Port 6443 einer Adresse für Ihr Netzwerk zu öffnen, stoppen Sie den Cluster und starten Sie ihn einmal mit:',
  'addNode.ask':
    'Erstellt ein Bootstrap-Token. Bis es abläuft, kann jeder, der es hat, diesem Cluster Nodes hinzufügen.',
  'addNode.create': 'Token erstellen',
  'addNode.cancel': 'Abbrechen',
  'addNode.close': 'Schließen',
  'addNode.command': 'Führen Sie dies auf dem neuen Rechner aus',
  'addNode.kubeadm': 'Oder für ein Kubelet derselben Minor-Version:',
  'addNode.expires': 'Token {id} läuft am {time} ab.',
  'addNode.progress': 'Beigetretene Nodes',
  'addNode.waiting': 'Es ist noch kein Rechner beigetreten.',
  'addNode.step.registered': 'ist registriert',
  'addNode.step.starting': 'startet',
  'addNode.step.ready': 'ist bereit',
} as const;
