/** A web server that says which pod it is, and a page that it is given by a ConfigMap. */
export const app = (image: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'List',
    items: [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'page' }, data: { 'motd.txt': 'hello\n' } },
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'web' },
        spec: {
          replicas: 3,
          selector: { matchLabels: { app: 'web' } },
          template: {
            metadata: { labels: { app: 'web' } },
            spec: {
              terminationGracePeriodSeconds: 0,
              // Also where one of the two nodes becomes ready after the pods are there.
              topologySpreadConstraints: [
                {
                  maxSkew: 1,
                  minDomains: 2,
                  topologyKey: 'kubernetes.io/hostname',
                  whenUnsatisfiable: 'DoNotSchedule',
                  nodeTaintsPolicy: 'Honor',
                  labelSelector: { matchLabels: { app: 'web' } },
                },
              ],
              volumes: [{ name: 'page', configMap: { name: 'page' } }],
              containers: [
                {
                  name: 'web',
                  image,
                  command: [
                    '/bin/sh',
                    '-c',
                    'hostname > /tmp/index.html; echo serving; exec httpd -f -v -p 8080 -h /tmp',
                  ],
                  ports: [{ containerPort: 8080 }],
                  volumeMounts: [{ name: 'page', mountPath: '/page' }],
                  readinessProbe: { httpGet: { path: '/', port: 8080 }, periodSeconds: 1 },
                  resources: { requests: { cpu: '10m', memory: '16Mi' } },
                },
              ],
            },
          },
        },
      },
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'web' },
        spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
      },
    ],
  });
