import guestbook from '../../../resources/samples/guestbook.yaml?raw';

/** Small manifests to begin with; names and images are there to be changed. */
export const samples: readonly {
  readonly id: 'web' | 'config' | 'job' | 'cronjob' | 'volume' | 'policy' | 'guestbook';
  readonly text: string;
}[] = [
  {
    id: 'web',
    text: `apiVersion: apps/v1
kind: Deployment
metadata:
  name: hello
  labels:
    app.kubernetes.io/name: hello
spec:
  replicas: 2
  selector:
    matchLabels:
      app.kubernetes.io/name: hello
  template:
    metadata:
      labels:
        app.kubernetes.io/name: hello
    spec:
      containers:
        - name: hello
          image: nginx:1.29
          ports:
            - containerPort: 80
          resources:
            requests:
              cpu: 50m
              memory: 64Mi
            limits:
              memory: 128Mi
          readinessProbe:
            httpGet:
              path: /
              port: 80
---
apiVersion: v1
kind: Service
metadata:
  name: hello
spec:
  selector:
    app.kubernetes.io/name: hello
  ports:
    - port: 80
      targetPort: 80
`,
  },
  {
    id: 'config',
    text: `apiVersion: v1
kind: ConfigMap
metadata:
  name: hello-settings
data:
  LOG_LEVEL: info
---
apiVersion: v1
kind: Secret
metadata:
  name: hello-secret
stringData:
  password: change-me
`,
  },
  {
    id: 'job',
    text: `apiVersion: batch/v1
kind: Job
metadata:
  name: count-to-ten
spec:
  backoffLimit: 2
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: count
          image: busybox:1.37
          command: [sh, -c, 'for i in $(seq 10); do echo $i; sleep 1; done']
`,
  },
  {
    id: 'cronjob',
    text: `apiVersion: batch/v1
kind: CronJob
metadata:
  name: every-morning
spec:
  schedule: '0 6 * * *'
  timeZone: Etc/UTC
  concurrencyPolicy: Forbid
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: OnFailure
          containers:
            - name: greet
              image: busybox:1.37
              command: [echo, good morning]
`,
  },
  {
    id: 'volume',
    text: `apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: hello-data
spec:
  accessModes: [ReadWriteOnce]
  resources:
    requests:
      storage: 1Gi
`,
  },
  {
    id: 'policy',
    text: `apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: only-from-web
spec:
  podSelector:
    matchLabels:
      app.kubernetes.io/name: hello
  policyTypes: [Ingress]
  ingress:
    - from:
        - namespaceSelector:
            matchLabels:
              kubernetes.io/metadata.name: web
`,
  },
  { id: 'guestbook', text: guestbook },
];
