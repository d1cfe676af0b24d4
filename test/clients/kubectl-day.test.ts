import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isBuilt, openKubectlCluster, type KubectlCluster, type Terminal } from './kubectl-cluster.ts';

/** What is done to objects by hand in a day, at three API servers on three members. */
const OCTET = 141;

let cluster: KubectlCluster;
let folder: string;
let run: Terminal['run'];
let rows: Terminal['rows'];
let start: Terminal['start'];

const manifest = (image: string): string => `
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, labels: {tier: back}}
spec:
  replicas: 2
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec:
      containers:
      - {name: c, image: "${image}", ports: [{containerPort: 80}], env: [{name: A, value: "1"}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: api}
data: {k: v}
`;

const deployment = (name: string, spec: string): string =>
  `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"${name}"},"spec":${spec}}`;

describe.skipIf(!isBuilt)('a day with kubectl: objects', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pilothouse-day-'));
    cluster = await openKubectlCluster({ etcd: 'pilothouse', members: 3, apiServers: 3, octet: OCTET });
    ({ run, rows, start } = await cluster.terminal(36, 'day'));
  });

  afterAll(async () => {
    await cluster.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const created = async (lines: Readonly<Record<string, string>>): Promise<void> => {
    for (const [line, what] of Object.entries(lines))
      expect(await run(`create ${line}`), line).toBe(`${what} created`);
  };

  test('generators make objects of every kind they know', async () => {
    const pair = join(cluster.plane.options.directory, 'pki/hosts/m1/apiserver');
    writeFileSync(join(folder, 'greeting.txt'), 'hello\n');
    await created({
      'namespace other': 'namespace/other',
      'configmap literal --from-literal=a=1 --from-literal=b=2': 'configmap/literal',
      [`configmap file --from-file=${folder}/greeting.txt`]: 'configmap/file',
      'secret generic opaque --from-literal=pw=x': 'secret/opaque',
      'secret docker-registry pull --docker-server=r.example --docker-username=u --docker-password=p':
        'secret/pull',
      [`secret tls tls --cert=${pair}.crt --key=${pair}.key`]: 'secret/tls',
      'deployment web --image=nginx:1.25 --replicas=3 --port=80': 'deployment.apps/web',
      'job once --image=busybox -- sleep 1': 'job.batch/once',
      "cronjob often --image=busybox '--schedule=*/5 * * * *' -- date": 'cronjob.batch/often',
      'job now --from=cronjob/often': 'job.batch/now',
      'service clusterip inner --tcp=80:8080': 'service/inner',
      'service nodeport outer --tcp=80 --node-port=30080': 'service/outer',
      'service loadbalancer edge --tcp=80': 'service/edge',
      'service externalname away --external-name=example.com': 'service/away',
      'role reader --verb=get,list --resource=pods': 'role.rbac.authorization.k8s.io/reader',
      'rolebinding readers --role=reader --user=jane --serviceaccount=day:robot':
        'rolebinding.rbac.authorization.k8s.io/readers',
      'clusterrole node-reader --verb=get --resource=nodes':
        'clusterrole.rbac.authorization.k8s.io/node-reader',
      'clusterrolebinding node-readers --clusterrole=node-reader --group=devs':
        'clusterrolebinding.rbac.authorization.k8s.io/node-readers',
      'serviceaccount robot': 'serviceaccount/robot',
      'quota small --hard=cpu=10,pods=10': 'resourcequota/small',
      'poddisruptionbudget half --selector=app=web --min-available=50%': 'poddisruptionbudget.policy/half',
      'ingress front --rule=foo.com/bar=inner:80,tls=tls': 'ingress.networking.k8s.io/front',
      'priorityclass high --value=1000 --description=high': 'priorityclass.scheduling.k8s.io/high',
    });
    expect(await run('create token robot')).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(await run('create configmap literal')).toBe(
      'error: failed to create configmap: configmaps "literal" already exists\n[exit 1]',
    );
    expect(await run('delete quota small')).toBe('resourcequota "small" deleted from day namespace');
  });

  test('tables have the columns of upstream', async () => {
    expect(await rows('get svc')).toEqual([
      ['NAME', 'TYPE', 'CLUSTER-IP', 'EXTERNAL-IP', 'PORT(S)'],
      ['away', 'ExternalName', '<none>', 'example.com', '<none>'],
      [
        'edge',
        'LoadBalancer',
        expect.stringMatching(/^127\.141\./),
        '<pending>',
        expect.stringMatching(/^80:3\d+\/TCP$/),
      ],
      ['inner', 'ClusterIP', expect.stringMatching(/^127\.141\./), '<none>', '80/TCP'],
      ['outer', 'NodePort', expect.stringMatching(/^127\.141\./), '<none>', '80:30080/TCP'],
    ]);
    expect(await rows('get deploy -o wide --show-labels')).toEqual([
      ['NAME', 'READY', 'UP-TO-DATE', 'AVAILABLE', 'CONTAINERS', 'IMAGES', 'SELECTOR', 'LABELS'],
      ['web', '0/3', '0', '0', 'nginx', 'nginx:1.25', 'app=web', 'app=web'],
    ]);
    expect(await rows('get cronjob,job')).toEqual(
      expect.arrayContaining([
        ['NAME', 'SCHEDULE', 'TIMEZONE', 'SUSPEND', 'ACTIVE', 'LAST SCHEDULE'],
        ['cronjob.batch/often', '*/5 * * * *', '<none>', 'False', '0', '<none>'],
      ]),
    );
    expect(await rows('get job')).toEqual([
      ['NAME', 'STATUS', 'COMPLETIONS', 'DURATION'],
      ['now', 'Running', '0/1', ''],
      ['once', 'Running', '0/1', ''],
    ]);
    expect(await rows('get rolebinding -o wide')).toEqual([
      ['NAME', 'ROLE', 'USERS', 'GROUPS', 'SERVICEACCOUNTS'],
      ['readers', 'Role/reader', 'jane', '', 'day/robot'],
    ]);
    expect(await rows('get ing')).toEqual([
      ['NAME', 'CLASS', 'HOSTS', 'ADDRESS', 'PORTS'],
      ['front', '<none>', 'foo.com', '', '80, 443'],
    ]);
    expect(await rows('get pdb')).toEqual([
      ['NAME', 'MIN AVAILABLE', 'MAX UNAVAILABLE', 'ALLOWED DISRUPTIONS'],
      ['half', '50%', 'N/A', '0'],
    ]);
    expect(await rows('get secret')).toEqual([
      ['NAME', 'TYPE', 'DATA'],
      ['opaque', 'Opaque', '1'],
      ['pull', 'kubernetes.io/dockerconfigjson', '1'],
      ['tls', 'kubernetes.io/tls', '2'],
    ]);
    expect(await rows('get deploy -L app,tier')).toEqual([
      ['NAME', 'READY', 'UP-TO-DATE', 'AVAILABLE', 'APP', 'TIER'],
      ['web', '0/3', '0', '0', 'web', ''],
    ]);
  });

  test('objects are printed in every form that can be asked for', async () => {
    expect(await run('get deploy web -o name')).toBe('deployment.apps/web');
    expect(await run("get deploy web -o 'jsonpath={.spec.replicas} {.metadata.labels}'")).toBe(
      '3 {"app":"web"}',
    );
    expect(await run("get cm -o 'go-template={{range .items}}{{.metadata.name}};{{end}}'")).toBe(
      'file;literal;',
    );
    expect(
      await run('get deploy -o custom-columns=N:.metadata.name,R:.spec.replicas,X:.status.nothing'),
    ).toBe('N     R     X\nweb   3     <none>');
    expect(await run('get cm literal -o yaml')).toMatch(
      /^apiVersion: v1\ndata:\n {2}a: "1"\n {2}b: "2"\nkind: ConfigMap\nmetadata:\n {2}creationTimestamp: "[^"]+"\n {2}name: literal\n {2}namespace: day\n {2}resourceVersion: "\d+"\n {2}uid: [0-9a-f-]{36}$/,
    );
    const list = JSON.parse(await run('get cm literal file -o json')) as { kind: string; items: unknown[] };
    expect([list.kind, list.items.length]).toEqual(['List', 2]);
    expect(await run('get svc --sort-by=.spec.type -o name')).toBe(
      'service/inner\nservice/away\nservice/edge\nservice/outer',
    );
    expect(
      await run('get svc --sort-by=.metadata.name --no-headers -o custom-columns=N:.metadata.name'),
    ).toBe('away\nedge\ninner\nouter');
    expect(await run('get cm/literal secret/opaque -o name')).toBe('configmap/literal\nsecret/opaque');
    expect(await run('get deploy.v1.apps web -o name')).toBe('deployment.apps/web');
    expect((await run('get cm literal -o yaml --show-managed-fields')).split('\n')).toContain(
      '    manager: kubectl-create',
    );
  });

  test('selectors choose, and pages of one object make up the whole list', async () => {
    expect(await run("get deploy -l 'app in (web,x),!tier' -o name")).toBe('deployment.apps/web');
    expect(await run('get deploy -l app!=web')).toBe('No resources found in day namespace.');
    expect(await run('get svc -A --field-selector=metadata.namespace=day,metadata.name=inner -o name')).toBe(
      'service/inner',
    );
    expect(await run('get pods --field-selector=foo=bar')).toBe(
      'Error from server (BadRequest): Unable to find "/v1, Resource=pods" that match label selector "", field selector "foo=bar": field label not supported: foo\n[exit 1]',
    );
    expect(await run('get deploy --field-selector=spec.replicas=1')).toBe(
      'Error from server (BadRequest): Unable to find "apps/v1, Resource=deployments" that match label selector "", field selector "spec.replicas=1": "spec.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"\n[exit 1]',
    );
    const whole = await rows('get clusterroles');
    expect(whole.length).toBeGreaterThan(50);
    expect(await rows('get clusterroles --chunk-size=7')).toEqual(whole);
  });

  test('missing objects are reported in the words of upstream', async () => {
    expect(await run('get nothing')).toBe(
      `error: the server doesn't have a resource type "nothing"\n[exit 1]`,
    );
    expect(await run('get deploy,cm nope')).toBe(
      'Error from server (NotFound): deployments.apps "nope" not found\nError from server (NotFound): configmaps "nope" not found\n[exit 1]',
    );
    expect(await run('get pods')).toBe('No resources found in day namespace.');
    expect(await run('get --raw /nope')).toBe(
      'Error from server (NotFound): the server could not find the requested resource\n[exit 1]',
    );
    expect(await run('get --raw /readyz')).toBe('ok');
    expect(JSON.parse(await run('get --raw /api/v1/namespaces/day/configmaps/literal'))).toMatchObject({
      kind: 'ConfigMap',
      data: { a: '1', b: '2' },
    });
  });

  test('describe tells about the main kinds', async () => {
    const lines = async (line: string): Promise<string[]> =>
      (await run(line)).split('\n').map((text) => text.replaceAll(/\s+/g, ' ').trim());
    expect(await lines('describe deploy web')).toEqual(
      expect.arrayContaining([
        'Replicas: 3 desired | 0 updated | 0 total | 0 available | 0 unavailable',
        'RollingUpdateStrategy: 25% max unavailable, 25% max surge',
        'Events: <none>',
      ]),
    );
    expect(await lines('describe svc inner')).toEqual(
      expect.arrayContaining(['IP Families: IPv4', 'Port: 80-8080 80/TCP', 'TargetPort: 8080/TCP']),
    );
    expect(await lines('describe ns day')).toEqual(
      expect.arrayContaining(['Status: Active', 'No resource quota.', 'No LimitRange resource.']),
    );
    expect(await lines('describe ing front')).toContain('tls terminates foo.com');
    expect(await lines('describe job once')).toContain('Pods Statuses: 0 Active / 0 Succeeded / 0 Failed');
    expect(await lines('describe role reader')).toContain('pods [] [] [get list]');
    expect(await lines('describe secret opaque')).toContain('pw: 1 bytes');
    expect(await lines('describe cronjob often')).toContain('Successful Job History Limit: 3');
    expect(await lines('describe priorityclass high')).toContain('PreemptionPolicy: PreemptLowerPriority');
    expect(await run('describe pod nope')).toBe(
      'Error from server (NotFound): pods "nope" not found\n[exit 1]',
    );
  });

  test('explain knows every field', async () => {
    expect(await run('explain pod.spec.containers.ports')).toContain('FIELD: ports <[]ContainerPort>');
    expect(await run('explain deployment.spec.replicas')).toMatch(
      /^GROUP: {6}apps\nKIND: {7}Deployment\nVERSION: {4}v1\n\nFIELD: replicas <integer>\n/,
    );
    expect((await run('explain deploy --recursive')).split('\n').length).toBeGreaterThan(800);
    expect(await run('explain pods.nope')).toContain('error: field "nope" does not exist\n[exit 1]');
  });

  test('apply creates, leaves alone and changes; diff tells before', async () => {
    const [first, second] = [join(folder, 'first.yaml'), join(folder, 'second.yaml')];
    writeFileSync(first, manifest('nginx:1'));
    writeFileSync(second, manifest('nginx:2'));
    expect(await run(`diff -f ${first}`)).toContain('+kind: Deployment');
    expect(await run(`apply -f ${first}`)).toBe('deployment.apps/api created\nconfigmap/api created');
    expect(await run(`apply -f ${first}`)).toBe('deployment.apps/api unchanged\nconfigmap/api unchanged');
    expect(await run(`diff -f ${first}`)).toBe('');
    const difference = (await run(`diff -f ${second}`)).split('\n').filter((line) => /^[-+] /.test(line));
    expect(difference).toEqual([
      '-  generation: 1',
      '+  generation: 2',
      '-        image: nginx:1',
      '+        image: nginx:2',
    ]);
    expect(await run(`apply --dry-run=server -f ${second}`)).toBe(
      'deployment.apps/api configured (server dry run)\nconfigmap/api unchanged (server dry run)',
    );
    expect(await run(`apply -f ${second}`)).toBe('deployment.apps/api configured\nconfigmap/api unchanged');
    expect(await run('apply view-last-applied deploy/api')).toContain('image: nginx:2');
    expect(await run(`create -f ${second}`)).toBe(
      `Error from server (AlreadyExists): error when creating "${second}": deployments.apps "api" already exists\nError from server (AlreadyExists): error when creating "${second}": configmaps "api" already exists\n[exit 1]`,
    );
  });

  test('server-side apply keeps what others own until it is forced', async () => {
    const [first, second] = [join(folder, 'first.yaml'), join(folder, 'second.yaml')];
    const applied = 'deployment.apps/api serverside-applied\nconfigmap/api serverside-applied';
    expect(await run(`apply --server-side -f ${second}`)).toBe(applied);
    const refused = await run(`apply --server-side --field-manager=other -f ${first}`);
    expect(refused).toContain(
      'error: Apply failed with 1 conflict: conflict with "kubectl": .spec.template.spec.containers[name="c"].image\n',
    );
    expect(await run(`apply --server-side --field-manager=other --force-conflicts -f ${first}`)).toBe(
      applied,
    );
    expect(await run(`apply --server-side -f ${second}`)).toContain('conflict with "other"');
    const whole = JSON.parse(await run('get deploy api -o json --show-managed-fields')) as {
      metadata: { managedFields: { manager: string; operation: string }[] };
    };
    expect(whole.metadata.managedFields.map(({ manager, operation }) => [manager, operation])).toEqual([
      ['kubectl-last-applied', 'Apply'],
      ['kubectl', 'Apply'],
      ['other', 'Apply'],
    ]);
  });

  test('a manifest that is wrong is refused with all that is wrong', async () => {
    const unknown = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"bad"},"dataa":{}}';
    expect(await run('apply -f -', unknown)).toBe(
      'Error from server (BadRequest): error when creating "STDIN": ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dataa"\n[exit 1]',
    );
    expect(await run('apply --validate=warn -f -', unknown)).toBe(
      'configmap/bad created\nWarning: unknown field "dataa"',
    );
    expect(await run('apply -f -', '{"apiVersion":"v1","kind":"Frob","metadata":{"name":"bad"}}')).toBe(
      'error: resource mapping not found for name: "bad" namespace: "" from "STDIN": no matches for kind "Frob" in version "v1"\nensure CRDs are installed first\n[exit 1]',
    );
    const wrong = deployment(
      'wrong',
      '{"replicas":-1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"c"}},"spec":{"containers":[{"name":"X_","image":""}]}}}',
    );
    expect((await run('apply -f -', wrong)).split('\n')).toEqual([
      'The Deployment "wrong" is invalid: ',
      '* spec.replicas: Invalid value: -1: must be greater than or equal to 0',
      '* spec.template.metadata.labels: Invalid value: {"a":"c"}: `selector` does not match template `labels`',
      expect.stringContaining(
        '* spec.template.spec.containers[0].name: Invalid value: "X_": a lowercase RFC 1123 label must consist of',
      ),
      '* spec.template.spec.containers[0].image: Required value',
      '[exit 1]',
    ]);
    const moved = deployment(
      'api',
      '{"selector":{"matchLabels":{"app":"b"}},"template":{"metadata":{"labels":{"app":"b"}},"spec":{"containers":[{"name":"c","image":"a"}]}}}',
    );
    expect(await run('apply -f -', moved)).toBe(
      'The Deployment "api" is invalid: spec.selector: Invalid value: {"matchLabels":{"app":"b"}}: field is immutable\n[exit 1]',
    );
  });

  test('apply --prune and kustomizations remove what is no longer named', async () => {
    const one = (name: string): string =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, labels: {set: p}}\n---\n`;
    const prune = 'apply -f - --prune -l set=p --prune-allowlist=core/v1/ConfigMap';
    expect(await run(prune, one('pa') + one('pb'))).toBe('configmap/pa created\nconfigmap/pb created');
    expect(await run(prune, one('pa'))).toBe('configmap/pa unchanged\nconfigmap/pb pruned');
    writeFileSync(join(folder, 'cm.yaml'), one('pa'));
    writeFileSync(
      join(folder, 'kustomization.yaml'),
      'namePrefix: dev-\nresources: [cm.yaml]\nconfigMapGenerator: [{name: gen, literals: [a=b]}]\n',
    );
    const names = ['configmap/dev-gen-4h2mbtbbt6', 'configmap/dev-pa'];
    expect(await run(`apply -k ${folder}`)).toBe(names.map((name) => `${name} created`).join('\n'));
    expect(await run(`get -k ${folder} -o name`)).toBe(names.join('\n'));
    expect(await run(`delete -k ${folder}`)).toBe(
      'configmap "dev-gen-4h2mbtbbt6" deleted from day namespace\nconfigmap "dev-pa" deleted from day namespace',
    );
  });

  test('an editor changes what it is given', async () => {
    const edit = (script: string): Promise<string> =>
      run('edit deploy web', undefined, { EDITOR: `sed -i ${script}` });
    expect(await edit('s/nginx:1.25/nginx:1.26/')).toBe('deployment.apps/web edited');
    expect(await run("get deploy web -o 'jsonpath={..image}'")).toBe('nginx:1.26');
    expect(await edit('s/nginx:1.26/nginx:1.26/')).toBe('Edit cancelled, no changes made.');
    expect(await edit('s/replicas:.*/replicas:\\ -1/')).toMatch(
      /^error: deployments\.apps "web" is invalid\nA copy of your changes has been stored to "(.*)"\nerror: Edit cancelled, no valid changes were saved\.\n\[exit 1\]$/,
    );
  });

  test('patches of the three kinds', async () => {
    const containers = "get deploy web -o 'jsonpath={.spec.template.spec.containers[*].name}'";
    const add = '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"s"}]}}}}';
    const patched = 'deployment.apps/web patched';
    expect(await run(`patch deploy web -p '${add}'`)).toBe(patched);
    expect(await run(containers)).toBe('side nginx');
    expect(await run(`patch deploy web --type=merge -p '${add}'`)).toBe(patched);
    expect(await run(containers)).toBe('side');
    const replace =
      '[{"op":"replace","path":"/spec/replicas","value":5},{"op":"test","path":"/spec/replicas","value":5}]';
    expect(await run(`patch deploy web --type=json -p '${replace}'`)).toBe(patched);
    expect(await run(`patch deploy web -p '{"spec":{"replicas":5}}'`)).toBe(`${patched} (no change)`);
    const invalid =
      'The request is invalid: the server rejected our request due to an error in our request\n[exit 1]';
    expect(
      await run(`patch deploy web --type=json -p '[{"op":"test","path":"/spec/replicas","value":6}]'`),
    ).toBe(invalid);
    expect(await run(`patch deploy web --type=json -p '[{"op":"remove","path":"/spec/nope"}]'`)).toBe(
      invalid,
    );
    expect(await run(`patch deploy web -p '{"spec":{"replicas":"x"}}'`)).toBe(
      'The request is invalid: patch: Invalid value: "map[spec:map[replicas:x]]": unrecognized type: int32\n[exit 1]',
    );
    expect(await run(`patch deploy web --type=merge -p '{"spec":{"nope":1}}'`)).toBe(
      `${patched} (no change)\nWarning: unknown field "spec.nope"`,
    );
    expect(await run(`patch deploy web --subresource=scale --type=merge -p '{"spec":{"replicas":7}}'`)).toBe(
      'scale.autoscaling/web patched',
    );
    expect(await rows('get deploy web --subresource=scale')).toEqual([
      ['NAME', 'DESIRED', 'AVAILABLE'],
      ['web', '7', '0'],
    ]);
  });

  test('labels, annotations, scale and the set commands', async () => {
    expect(await run('label deploy web env=prod')).toBe('deployment.apps/web labeled');
    expect(await run('label deploy web env=dev')).toBe(
      "error: 'env' already has a value (prod), and --overwrite is false\n[exit 1]",
    );
    expect(await run('label deploy web env=dev --overwrite')).toBe('deployment.apps/web labeled');
    expect(await run('label deploy web env-')).toBe('deployment.apps/web unlabeled');
    expect(await run("label deploy web 'bad key=1'")).toMatch(
      /^The Deployment "web" is invalid: metadata\.labels: Invalid value: "bad key": name part must consist of/,
    );
    expect(await run('annotate deploy web note=hi')).toBe('deployment.apps/web annotated');
    expect(await run('annotate deploy web note-')).toBe('deployment.apps/web annotated');
    expect(await run('scale deploy web api --replicas=4')).toBe(
      'deployment.apps/web scaled\ndeployment.apps/api scaled',
    );
    expect(await run('scale deploy web --current-replicas=9 --replicas=1')).toBe(
      'error: Expected replicas to be 9, was 4\n[exit 1]',
    );
    expect(await run('set image deploy/web side=nginx:9')).toBe('deployment.apps/web image updated');
    expect(await run('set env deploy/web A=b')).toBe('deployment.apps/web env updated');
    expect(await run('set env deploy/web --list')).toBe('# Deployment web, container side\nA=b');
    expect(await run('set resources deploy/web --limits=cpu=200m,memory=512Mi --requests=cpu=100m')).toBe(
      'deployment.apps/web resource requirements updated',
    );
    expect(await run('set serviceaccount deploy/web robot')).toBe(
      'deployment.apps/web serviceaccount updated',
    );
    expect(await run("get deploy web -o 'jsonpath={..resources} {..serviceAccountName}'")).toBe(
      '{"limits":{"cpu":"200m","memory":"512Mi"},"requests":{"cpu":"100m"}} robot',
    );
  });

  test('expose, autoscale, replace and run', async () => {
    expect(await run('expose deploy api --port=80')).toBe('service/api exposed');
    expect(await run("get svc api -o 'jsonpath={.spec.selector} {.spec.ports[0].targetPort}'")).toBe(
      '{"app":"api"} 80',
    );
    expect(await run('autoscale deploy web --min=1 --max=5 --cpu=50%')).toBe(
      'horizontalpodautoscaler.autoscaling/web autoscaled',
    );
    expect(await rows('get hpa')).toEqual([
      ['NAME', 'REFERENCE', 'TARGETS', 'MINPODS', 'MAXPODS', 'REPLICAS'],
      ['web', 'Deployment/web', 'cpu: <unknown>/50%', '1', '5', '0'],
    ]);
    const cm = (extra: string): string =>
      `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"literal"${extra}},"data":{"z":"1"}}`;
    expect(await run('replace -f -', cm(''))).toBe('configmap/literal replaced');
    expect(await run('replace -f -', cm(',"resourceVersion":"1"'))).toBe(
      'Error from server (Conflict): error when replacing "STDIN": Operation cannot be fulfilled on configmaps "literal": the object has been modified; please apply your changes to the latest version and try again\n[exit 1]',
    );
    expect(await run('replace --force -f -', cm(''))).toBe(
      'configmap "literal" deleted from day namespace\nconfigmap/literal replaced',
    );
    expect(await run('run trial --image=nginx --dry-run=server')).toBe('pod/trial created (server dry run)');
    expect(await run('get pod trial')).toBe('Error from server (NotFound): pods "trial" not found\n[exit 1]');
  });

  test('a watch shows what is there and every change, at any server', async () => {
    const table = start('get cm literal -w --no-headers -o custom-columns=N:.metadata.name,D:.data');
    const json = start('get cm -w -o json --watch-only');
    const events = start('get cm literal --watch --output-watch-events');
    try {
      await table.until((text) => text.includes('map[z:1]'));
      await events.until((text) => text.includes('ADDED'));
      expect(await run(`patch cm literal --type=merge -p '{"data":{"z":"2"}}'`)).toBe(
        'configmap/literal patched',
      );
      expect(await table.until((text) => text.includes('map[z:2]\n'))).toMatch(
        /^literal +map\[z:1\]\nliteral +map\[z:2\]\n$/,
      );
      expect(await run('delete cm literal')).toBe('configmap "literal" deleted from day namespace');
      const shown = await events.until((text) => /^DELETED.*\n/m.test(text));
      expect(shown.split('\n').map((line) => line.split(/\s+/)[0])).toEqual([
        'EVENT',
        'ADDED',
        'MODIFIED',
        'DELETED',
        '',
      ]);
      await json.until((text) => text.includes('"z": "2"'));
    } finally {
      await Promise.all([table.stop(), json.stop(), events.stop()]);
    }
  });
});
