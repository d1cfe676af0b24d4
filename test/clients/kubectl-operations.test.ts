import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createRequest, generateKey } from '../../core/pki/index.ts';
import {
  brokenManifest,
  HOOKED,
  POLICY_MANIFEST,
  startBrokenWebhook,
  startLabelWebhook,
  webhookManifest,
} from './admission-steps.ts';
import { until } from '../support/until.ts';
import { isBuilt, openKubectlCluster, type KubectlCluster, type Terminal } from './kubectl-cluster.ts';

/** What an operator does in a day with kubectl, at three API servers on three members. */
const OCTET = 149;

const POD = `apiVersion: v1
kind: Pod
metadata: {name: p, labels: {app: web}}
spec: {containers: [{name: c, image: nginx, resources: {requests: {cpu: 100m}}}]}
`;
/** No machine is at its address. */
const NODE = `apiVersion: v1
kind: Node
metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}
status:
  capacity: {cpu: "4", memory: 8Gi, pods: "110"}
  conditions: [{type: Ready, status: "True", reason: KubeletReady, message: ok}]
  addresses: [{type: InternalIP, address: 127.${OCTET}.9.9}]
`;

describe.skipIf(!isBuilt)('a day with kubectl: operations', () => {
  let cluster: KubectlCluster;
  let run: Terminal['run'];
  let runOld: Terminal['run'];
  let rows: Terminal['rows'];
  let start: Terminal['start'];
  let eventually: Terminal['eventually'];

  beforeAll(async () => {
    cluster = await openKubectlCluster({ etcd: 'pilothouse', members: 3, apiServers: 3, octet: OCTET });
    ({ run, rows, start, eventually } = await cluster.terminal(36, 'day'));
    ({ run: runOld } = await cluster.terminal(20, 'day-old'));
    await run('create deployment web --image=nginx:1 --replicas=2');
    await run('apply -f -', NODE);
  });

  afterAll(() => cluster.close());

  /** Each API server hears of a configuration in its own time, and commands go to one after another. */
  const everywhere = (line: string, isEnough: (text: string) => boolean): Promise<boolean> =>
    until(`enough of kubectl ${line} at every server`, async () => {
      for (const { url } of cluster.plane.apiServers) {
        const text = await run(line);
        if (!isEnough(text)) throw new Error(`${url} or another server prints: ${text}`);
      }
      return true;
    });

  test('the cluster tells who and what it is', async () => {
    expect(await run('version')).toMatch(
      /^Client Version: v1\.36\.\d+\nKustomize Version: .*\nServer Version: v1\.36\.0$/,
    );
    expect(await run('cluster-info')).toContain('Kubernetes control plane');
    expect(await rows('auth whoami')).toEqual([
      ['ATTRIBUTE', 'VALUE'],
      ['Username', 'kubernetes-admin'],
      ['Groups', '[kubeadm:cluster-admins system:authenticated]'],
      [
        'Extra: authentication.kubernetes.io/credential-id',
        expect.stringMatching(/^\[X509SHA256=[0-9a-f]{64}\]$/),
      ],
    ]);
    expect((await run('api-versions')).split('\n')).toEqual(expect.arrayContaining(['apps/v1', 'v1']));
    expect((await run('api-resources --namespaced=false -o name')).split('\n')).toEqual(
      expect.arrayContaining(['nodes', 'clusterroles.rbac.authorization.k8s.io']),
    );
    expect(await rows('get componentstatuses')).toEqual(
      expect.arrayContaining([['etcd-0', 'Healthy', 'ok', '']]),
    );
    const metrics = await run('get --raw /metrics');
    expect(metrics).toMatch(/^apiserver_storage_objects\{resource="namespaces"\} \d+$/m);
    expect(metrics).toMatch(/^apiserver_resource_objects\{group="apps",resource="deployments"\} \d+$/m);
    expect(metrics).toMatch(
      /^etcd_request_duration_seconds_count\{group="",operation="\w+",resource="namespaces"\} \d+$/m,
    );
    expect(await run('top nodes')).toBe('error: Metrics API not available\n[exit 1]');
  });

  test('rollouts: what can be done without a controller', async () => {
    expect(await run('rollout status deploy/web --watch=false')).toBe(
      'Waiting for deployment spec update to be observed...',
    );
    expect(await run('rollout history deploy/web')).toBe('deployment.apps/web \nNo rollout history found.');
    expect(await run('rollout pause deploy/web')).toBe('deployment.apps/web paused');
    expect(await run('rollout pause deploy/web')).toBe(
      'error: deployments.apps "web" is already paused\n[exit 1]',
    );
    expect(await run('rollout resume deploy/web')).toBe('deployment.apps/web resumed');
    expect(await run('rollout restart deploy/web')).toBe('deployment.apps/web restarted');
    expect(await run("get deploy web -o 'jsonpath={.spec.template.metadata.annotations}'")).toContain(
      'kubectl.kubernetes.io/restartedAt',
    );
    expect(await run('rollout undo deploy/web')).toBe(
      'error: no rollout history found for deployment "web"\n[exit 1]',
    );
  });

  test('a revision that is stored is rolled back to', async () => {
    const uid = await run("get deploy web -o 'jsonpath={.metadata.uid}'");
    const set = (revision: number, image: string): string => `apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: web-${revision}
  labels: {app: web, pod-template-hash: h${revision}}
  annotations: {deployment.kubernetes.io/revision: "${revision}"}
  ownerReferences: [{apiVersion: apps/v1, kind: Deployment, name: web, uid: ${uid}, controller: true}]
spec:
  selector: {matchLabels: {app: web, pod-template-hash: h${revision}}}
  template: {metadata: {labels: {app: web, pod-template-hash: h${revision}}}, spec: {containers: [{name: nginx, image: "${image}"}]}}
---
`;
    expect(await run('apply -f -', set(1, 'nginx:0') + set(2, 'nginx:1'))).toBe(
      'replicaset.apps/web-1 created\nreplicaset.apps/web-2 created',
    );
    expect(await run('rollout history deploy/web')).toBe(
      'deployment.apps/web \nREVISION  CHANGE-CAUSE\n1         <none>\n2         <none>',
    );
    expect(await run('rollout undo deploy/web --to-revision=1')).toBe('deployment.apps/web rolled back');
    expect(await run("get deploy web -o 'jsonpath={..image}'")).toBe('nginx:0');
  });

  test('deletions leave to controllers what they are to do', async () => {
    const finalizers = (name: string): Promise<string> =>
      run(`get deploy ${name} -o 'jsonpath={.metadata.finalizers}'`);
    for (const [cascade, finalizer] of [
      ['foreground', 'foregroundDeletion'],
      ['orphan', 'orphan'],
    ]) {
      await run(`create deployment ${cascade} --image=a`);
      expect(await run(`delete deploy ${cascade} --cascade=${cascade} --wait=false`)).toBe(
        `deployment.apps "${cascade}" deleted from day namespace`,
      );
      expect(await finalizers(cascade!)).toBe(`["${finalizer}"]`);
      await run(`patch deploy ${cascade} --type=merge -p '{"metadata":{"finalizers":null}}'`);
      expect(await run(`get deploy ${cascade}`)).toBe(
        `Error from server (NotFound): deployments.apps "${cascade}" not found\n[exit 1]`,
      );
    }
    await run('create deployment background --image=a');
    expect(await run('delete deploy background --cascade=background')).toBe(
      'deployment.apps "background" deleted from day namespace',
    );
    expect(await run('delete deploy background')).toBe(
      'Error from server (NotFound): deployments.apps "background" not found\n[exit 1]',
    );
    expect(await run('delete deploy background --ignore-not-found')).toBe('');
    expect(await run('delete cm -l a=b')).toBe('No resources found');
  });

  test('pods go with the grace that is asked for', async () => {
    expect(await run('apply -f -', POD)).toBe('pod/p created');
    expect(await rows('get pods -o wide')).toEqual([
      ['NAME', 'READY', 'STATUS', 'RESTARTS', 'IP', 'NODE', 'NOMINATED NODE', 'READINESS GATES'],
      ['p', '0/1', 'Pending', '0', '<none>', '<none>', '<none>', '<none>'],
    ]);
    expect(await run('describe pod p')).toMatch(/QoS Class: +Burstable\n/);
    expect(await run('delete pod p --now')).toBe('pod "p" deleted from day namespace');
    await run('apply -f -', POD);
    expect(await run('delete pod p --grace-period=0 --force')).toBe(
      'pod "p" force deleted from day namespace\nWarning: Immediate deletion does not wait for confirmation that the running resource has been terminated. The resource may continue to run on the cluster indefinitely.',
    );
    await run('apply -f -', POD.replace('spec: {', 'spec: {nodeName: n1, '));
    expect(await run('delete pod p --grace-period=7 --wait=false')).toBe(
      'pod "p" deleted from day namespace',
    );
    expect(await run("get pod p -o 'jsonpath={.metadata.deletionGracePeriodSeconds}'")).toBe('7');
    expect((await rows('get pod p'))[1]).toEqual(['p', '0/1', 'Terminating', '0']);
    expect(await run('delete pod p --grace-period=0 --force')).toContain('pod "p" force deleted');
    expect(await run('get pods')).toBe('No resources found in day namespace.');
  });

  test('finalizers hold an object until they are gone, and wait sees it go', async () => {
    await run('create cm held');
    await run(`patch cm held -p '{"metadata":{"finalizers":["x.io/y"]}}'`);
    expect(await run('delete cm held --timeout=3s')).toBe(
      'configmap "held" deleted from day namespace\nerror: timed out waiting for the condition on configmaps/held\n[exit 1]',
    );
    expect(await run(`patch cm held -p '{"metadata":{"finalizers":["z.io/y"]}}'`)).toBe(
      'The ConfigMap "held" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"z.io/y"}\n[exit 1]',
    );
    const waiting = start('wait --for=delete cm/held --timeout=200s -v=6');
    expect(await run(`patch cm held --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'`)).toBe(
      'configmap/held patched',
    );
    await waiting
      .until((text) => text.includes('configmap/held condition met'))
      .catch((error: unknown) => {
        // It may have been gone before the wait began: then nothing is said.
        if (!String(error).includes('ended')) throw error;
      });
    await waiting.stop();
    expect(await run('get cm held')).toBe(
      'Error from server (NotFound): configmaps "held" not found\n[exit 1]',
    );
  });

  test('wait sees conditions and fields', async () => {
    expect(await run('wait --for=condition=Ready node/n1 --timeout=200s')).toBe('node/n1 condition met');
    const waiting = start("wait '--for=jsonpath={.spec.replicas}=6' deploy/web --timeout=200s");
    expect(await run('scale deploy web --replicas=6')).toBe('deployment.apps/web scaled');
    expect(await waiting.until((text) => text.endsWith('\n'))).toBe('deployment.apps/web condition met\n');
    await waiting.stop();
    expect(await run('wait --for=condition=Available deploy/web --timeout=3s')).toBe(
      'error: timed out waiting for the condition on deployments/web\n[exit 1]',
    );
    expect(await run('wait --for=create deploy/web --timeout=200s')).toBe(
      'deployment.apps/web condition met',
    );
  });

  test('nodes are cordoned, tainted and drained', async () => {
    expect(await run('cordon n1')).toBe('node/n1 cordoned');
    expect(await rows('get node')).toEqual([
      ['NAME', 'STATUS', 'ROLES', 'VERSION'],
      ['n1', 'Ready,SchedulingDisabled', '<none>', ''],
    ]);
    expect(await run('uncordon n1')).toBe('node/n1 uncordoned');
    expect(await run('taint node n1 a=b:NoSchedule')).toBe('node/n1 tainted');
    expect(await run('taint node n1 a=b:NoSchedule')).toBe(
      'error: node n1 already has a taint(s) with same effect(s) and --overwrite is false\n[exit 1]',
    );
    expect(await run('taint node n1 a-')).toBe('node/n1 untainted');
    await run(
      'apply -f -',
      POD.replace('name: p', 'name: drained').replace(
        'spec: {',
        'spec: {nodeName: n1, terminationGracePeriodSeconds: 0, ',
      ),
    );
    expect(await run('drain n1 --force')).toBe(
      'node/n1 cordoned\nevicting pod day/drained\npod/drained evicted\nnode/n1 drained\nWarning: deleting Pods that declare no controller: day/drained',
    );
    await run('uncordon n1');
  });

  test('roles decide, and can-i tells beforehand', async () => {
    await run('create role reader --verb=get,list --resource=pods');
    await run('create rolebinding readers --role=reader --user=jane');
    for (let server = 0; server < cluster.plane.apiServers.length; server += 1)
      await eventually('auth can-i get pods --as=jane', (text) => text === 'yes');
    expect(await run('auth can-i create pods --as=jane')).toBe('no\n[exit 1]');
    expect((await rows('auth can-i --list --as=jane')).map(([resource]) => resource)).toContain('pods');
    expect(await run('get pods --as=jane')).toBe('No resources found in day namespace.');
    expect(await run('get cm --as=jane')).toBe(
      'Error from server (Forbidden): configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "day"\n[exit 1]',
    );
    expect(await run('delete cm x --as=jane')).toBe(
      'Error from server (Forbidden): configmaps "x" is forbidden: User "jane" cannot delete resource "configmaps" in API group "" in the namespace "day"\n[exit 1]',
    );
    expect(await run('get nodes --as=jane')).toBe(
      'Error from server (Forbidden): nodes is forbidden: User "jane" cannot list resource "nodes" in API group "" at the cluster scope\n[exit 1]',
    );
    const more = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: day}
rules: [{apiGroups: [""], resources: [configmaps], verbs: [get]}]
`;
    expect(await run('auth reconcile -f -', more)).toBe(
      'role.rbac.authorization.k8s.io/reader reconciled\n\treconciliation required update\n\tmissing rules added:\n\t\t{Verbs:[get] APIGroups:[] Resources:[configmaps] ResourceNames:[] NonResourceURLs:[]}',
    );
    await eventually('auth can-i get configmaps --as=jane', (text) => text === 'yes');
  });

  test('tokens open the door for service accounts', async () => {
    const token = await run('create token default --duration=1h');
    expect(await run(`auth whoami -o 'jsonpath={.status.userInfo.username}' --token=${token}`)).toBe(
      'kubernetes-admin', // the certificate of the kubeconfig comes first, as upstream
    );
    const review = `{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"${token}"}}`;
    expect(
      await run("create -f - -o 'jsonpath={.status.authenticated} {.status.user.username}'", review),
    ).toBe('true system:serviceaccount:day:default');
  });

  test('certificate requests are approved once', async () => {
    const request = createRequest(generateKey(), {
      subject: { commonName: 'jane', organizations: ['devs'] },
    });
    const csr = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'jane' },
      spec: {
        request: Buffer.from(request).toString('base64'),
        signerName: 'kubernetes.io/kube-apiserver-client',
        usages: ['client auth'],
      },
    };
    const name = 'certificatesigningrequest.certificates.k8s.io/jane';
    expect(await run('create -f -', JSON.stringify(csr))).toBe(`${name} created`);
    expect(await run('certificate approve jane')).toBe(`${name} approved`);
    expect(await rows('get csr')).toEqual([
      ['NAME', 'SIGNERNAME', 'REQUESTOR', 'REQUESTEDDURATION', 'CONDITION'],
      ['jane', 'kubernetes.io/kube-apiserver-client', 'kubernetes-admin', '<none>', 'Approved'],
    ]);
    expect(await run('certificate deny jane')).toBe(
      'error: certificate signing request "jane" is already Approved\n[exit 1]',
    );
  });

  test('requests for a kubelet fail with a reason where there is none', async () => {
    expect(await run('run lonely --image=nginx')).toBe('pod/lonely created');
    expect(await run('logs lonely')).toBe('');
    const noHost = 'error: unable to upgrade connection: pod lonely does not have a host assigned\n[exit 1]';
    expect(await run('exec lonely -- ls')).toBe(noHost);
    expect(await run('cp lonely:/a /nowhere')).toBe(noHost);
    expect(await run('port-forward pod/lonely 8080:80')).toBe(
      'error: unable to forward port because pod is not running. Current status=Pending\n[exit 1]',
    );
    const binding =
      '{"apiVersion":"v1","kind":"Binding","metadata":{"name":"lonely","namespace":"day"},"target":{"kind":"Node","name":"n1"}}';
    expect(await run('create -f -', binding)).toBe('status/<unknown> created');
    const refused = `dial tcp 127.${OCTET}.9.9:10250: connect: connection refused`;
    expect(await run('exec lonely -- ls')).toBe(
      `error: unable to upgrade connection: error dialing backend: ${refused}\n[exit 1]`,
    );
    expect(await run('logs lonely')).toBe(
      `Error from server: Get "https://127.${OCTET}.9.9:10250/containerLogs/day/lonely/lonely": ${refused}\n[exit 1]`,
    );
    expect(await run('logs lonely -c nope')).toBe(
      'error: container nope is not valid for pod lonely out of: lonely\n[exit 1]',
    );
    expect(await run('delete pod lonely --force --grace-period=0')).toContain('force deleted');
  });

  test('a webhook behind a service changes, warns and denies, and its failure is reported', async () => {
    const address = `127.${OCTET}.9.8`;
    const webhook = await startLabelWebhook(address);
    try {
      await run(`create namespace ${HOOKED}`);
      expect(await run('apply -f -', webhookManifest(webhook, address))).not.toContain('exit');
      const bad = `create configmap bad -n ${HOOKED}`;
      const denied =
        'error: failed to create configmap: admission webhook "label.example.com" denied the request: bad names are not welcome';
      await everywhere(`${bad} --dry-run=server`, (text) => text.startsWith(denied));
      expect(await runOld(bad)).toContain('admission webhook "label.example.com" denied the request');
      expect(await run(`create configmap good -n ${HOOKED}`)).toBe(
        'configmap/good created\nWarning: labelled by the webhook',
      );
      expect(await run(`get configmap good -n ${HOOKED} -o jsonpath={.metadata.labels}`)).toBe(
        '{"hooked":"yes"}',
      );
    } finally {
      await webhook.close();
    }
    expect(await run(`create configmap late -n ${HOOKED}`)).toBe(
      `error: failed to create configmap: Internal error occurred: failed calling webhook "label.example.com": failed to call webhook: Post "https://hook.${HOOKED}.svc:443/label?timeout=10s": dial tcp ${address}:${webhook.port}: connect: connection refused\n[exit 1]`,
    );
    expect(await runOld(`create configmap late -n ${HOOKED}`)).toContain('connect: connection refused');
    await run('delete mutatingwebhookconfiguration label');
    await everywhere(`create configmap after -n ${HOOKED} --dry-run=server`, (text) =>
      text.includes('created'),
    );
  });

  test('a webhook that hangs, answers garbage or shows a foreign certificate denies, to old and new clients', async () => {
    const webhook = await startBrokenWebhook(`127.${OCTET}.9.8`);
    // The first shows that every server knows the configuration; waiting for the one that hangs takes a second each.
    const failures = [
      ['garbage', "couldn't get version/kind; json parse error"],
      ['hang', `Post "${webhook.url('/hang')}?timeout=1s": context deadline exceeded`],
      ['stranger', 'tls: failed to verify certificate: x509: certificate signed by unknown authority'],
    ] as const;
    try {
      expect(await run('apply -f -', brokenManifest(webhook))).not.toContain('exit');
      for (const [name, why] of failures) {
        const called = `failed calling webhook "${name}.example.com": failed to call webhook: `;
        const line = `create configmap ${name} -n ${HOOKED}`;
        if (name === 'garbage') await everywhere(`${line} --dry-run=server`, (text) => text.includes(called));
        for (const text of await Promise.all([run(line), runOld(line)])) {
          expect(text).toContain(`Internal error occurred: ${called}`);
          expect(text).toContain(why);
        }
      }
    } finally {
      await run('delete validatingwebhookconfiguration broken');
      await webhook.close();
    }
  });

  test('policies change and deny, with parameters', async () => {
    await run(`create configmap limits -n ${HOOKED} --from-literal=max=2`);
    expect(await run('apply -f -', POLICY_MANIFEST)).not.toContain('exit');
    const big = `create deployment big --image=nginx --replicas=3 -n ${HOOKED}`;
    const denied =
      "error: failed to create deployment: deployments.apps \"big\" is forbidden: ValidatingAdmissionPolicy 'small' with binding 'small' denied request: at most 2 replicas";
    await everywhere(`${big} --dry-run=server`, (text) => text.startsWith(denied));
    expect(await run(`create deployment fine --image=nginx --replicas=2 -n ${HOOKED}`)).toBe(
      'deployment.apps/fine created',
    );
    expect(await run(`get deployment fine -n ${HOOKED} -o jsonpath={.metadata.labels.team}`)).toBe('a');
    expect(
      await run(
        'apply -f -',
        POLICY_MANIFEST.replace('object.spec.replicas <=', 'object.spec.replicas <= <'),
      ),
    ).toContain('compilation failed: ERROR: <input>:1:');
  });

  test('a namespace that goes takes nothing new in', async () => {
    await run('create namespace going');
    await run('create cm inside -n going');
    expect(await run('delete ns going --wait=false')).toBe('namespace "going" deleted');
    expect((await rows('get ns going'))[1]).toEqual(['going', 'Terminating']);
    expect(await run('create cm late -n going')).toBe(
      'error: failed to create configmap: configmaps "late" is forbidden: unable to create new content in namespace going because it is being terminated\n[exit 1]',
    );
    expect(await run('delete ns kube-system --wait=false')).toBe(
      'Error from server (Forbidden): namespaces "kube-system" is forbidden: this namespace may not be deleted\n[exit 1]',
    );
  });
});
