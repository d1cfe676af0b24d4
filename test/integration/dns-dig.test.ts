import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../core/base/node/clock.ts';
import { fixedSource, serviceOf, sliceOf, SPECIFIED } from '../../core/dns/testing/fixed-source.ts';
import { startTestServer } from '../../core/dns/testing/server.ts';
import { Budget } from '../../core/kubelet/runtimes/simulated/shell/budget.ts';
import { MemoryFileSystem, newLayer } from '../../core/kubelet/runtimes/simulated/shell/file-system.ts';
import { Shell } from '../../core/kubelet/runtimes/simulated/shell/interpreter.ts';
import { noInput } from '../../core/kubelet/runtimes/simulated/shell/pipe.ts';
import type { ShellHost } from '../../core/kubelet/runtimes/simulated/shell/process.ts';

const bind = { host: `127.${128 + (process.pid % 120)}.53.9`, port: 5053 };
let server: Awaited<ReturnType<typeof startTestServer>>;

beforeAll(async () => {
  const endpoints = Array.from({ length: 200 }, (_, index) => ({ address: `10.9.0.${index}` }));
  server = await startTestServer({
    bind,
    source: fixedSource({
      services: [...SPECIFIED.services!, serviceOf({ name: 'large' })],
      slices: [...SPECIFIED.slices!, sliceOf({ service: 'large', endpoints })],
    }),
  });
});
afterAll(() => server.close());

const run = promisify(execFile);
const dig = async (...args: string[]): Promise<string> =>
  (await run('dig', [`@${bind.host}`, '-p', String(bind.port), '+tries=1', '+time=10', ...args])).stdout;
const short = async (...args: string[]): Promise<string[]> =>
  (await dig('+short', ...args)).trim().split('\n').sort();
/** `status: NXDOMAIN` and the flags. */
const header = async (...args: string[]): Promise<string | undefined> => {
  const text = await dig(...args);
  return /status: (\w+)/.exec(text)?.[1];
};

/** The examples of the Kubernetes DNS specification 1.1.0, section by section. */
test.each<[string, string[], string[]]>([
  ['2.2 schema version', ['TXT', 'dns-version.cluster.local.'], ['"1.1.0"']],
  ['2.3.1 A', ['A', 'kubernetes.default.svc.cluster.local.'], ['10.3.0.1']],
  ['2.3.1 AAAA', ['AAAA', 'dual.default.svc.cluster.local.'], ['2001:db8::1']],
  [
    '2.3.2 SRV',
    ['SRV', '_https._tcp.kubernetes.default.svc.cluster.local.'],
    ['0 100 443 kubernetes.default.svc.cluster.local.'],
  ],
  ['2.3.3 PTR', ['-x', '10.3.0.1'], ['kubernetes.default.svc.cluster.local.']],
  ['2.3.3 PTR of IPv6', ['-x', '2001:db8::1'], ['dual.default.svc.cluster.local.']],
  [
    '2.4.1 A of a headless service',
    ['A', 'headless.default.svc.cluster.local.'],
    ['10.3.0.100', '10.3.0.101'],
  ],
  ['2.4.1 A of a hostname', ['A', 'my-pet.headless.default.svc.cluster.local.'], ['10.3.0.100']],
  [
    '2.4.2 SRV of a headless service',
    ['SRV', '_http._tcp.headless.default.svc.cluster.local.'],
    [
      '0 50 8080 10-3-0-101.headless.default.svc.cluster.local.',
      '0 50 8080 my-pet.headless.default.svc.cluster.local.',
    ],
  ],
  ['2.4.3 PTR of an endpoint', ['-x', '10.3.0.100'], ['my-pet.headless.default.svc.cluster.local.']],
  ['2.5 external name', ['A', 'foo.default.svc.cluster.local.'], ['www.example.com.']],
  ['case does not matter', ['A', 'KUBERNETES.default.SVC.cluster.local.'], ['10.3.0.1']],
  ['pods', ['A', '10-1-2-3.default.pod.cluster.local.'], ['10.1.2.3']],
])('%s', async (_, args, answers) => {
  expect(await short(...args)).toEqual(answers);
  expect(await short('+tcp', ...args)).toEqual(answers);
});

test('missing resources have the codes of the specification', async () => {
  expect([
    await header('A', 'empty.default.svc.cluster.local.'),
    await header('A', 'nothing.default.svc.cluster.local.'),
    await header('AAAA', 'kubernetes.default.svc.cluster.local.'),
    await header('A', 'example.com.'),
  ]).toEqual(['NXDOMAIN', 'NXDOMAIN', 'NOERROR', 'REFUSED']);
});

test('an answer that is cut is asked for again over TCP', async () => {
  const name = 'large.default.svc.cluster.local.';
  expect(await dig('+noedns', '+ignore', 'A', name)).toMatch(/flags: qr aa tc rd;/);
  expect(await dig('+bufsize=1232', '+ignore', 'A', name)).toMatch(/flags: qr aa tc rd;[^]*udp: 1232/);
  expect(await short('A', name)).toHaveLength(200);
});

/** Nothing listens on port 53 of the address, so the servers are asked on their own port, as without root. */
const shellIn = (resolvConf: string) => {
  const clock = systemClock;
  const address = bind.host;
  const files = new Map([
    ['/etc/hosts', `${address}\tweb-0\n`],
    ['/etc/resolv.conf', resolvConf],
  ]);
  const host: ShellHost = {
    clock,
    hostname: 'web-0',
    podName: 'web-0',
    namespace: 'default',
    nodeName: 'n1',
    podIP: address,
    kernelVersion: '6.6',
    user: { name: 'root', uid: 0, gid: 0 },
    init: 'nginx',
    fileSystem: new MemoryFileSystem(newLayer(files), []),
    budget: new Budget(clock),
    networks: [`${address.split('.').slice(0, 2).join('.')}.0.0/16`],
    dns: { service: SERVICE_ADDRESS, endpoints: [bind] },
  };
  return async (script: string) => {
    const shell = new Shell({ host, environment: new Map(), signal: new AbortController().signal });
    const told = { out: '', err: '' };
    const { code } = await shell.run(script, {
      input: noInput,
      out: (text) => void (told.out += text),
      err: (text) => void (told.err += text),
    });
    shell.dispose();
    return { code, ...told };
  };
};
const SERVICE_ADDRESS = bind.host.replace(/\.9$/, '.10');
const POD_CONF = `search default.svc.cluster.local svc.cluster.local cluster.local\nnameserver ${SERVICE_ADDRESS}\noptions ndots:5\n`;

test('commands of a simulated container find names by search paths', async () => {
  const run = shellIn(POD_CONF);
  expect([
    await run('nslookup kubernetes'),
    await run('nslookup kubernetes.default.svc'),
    await run('nslookup nothing'),
    await run('getent hosts kubernetes web-0'),
    await run('host -t SRV _https._tcp.kubernetes.default.svc.cluster.local'),
    await run('dig +short -x 10.3.0.1'),
    await run('nslookup 10.3.0.1'),
    await run('curl -s http://nothing/'),
    await run('wget -q -O- http://nothing/'),
    await run('curl -s http://kubernetes/'),
  ]).toEqual([
    {
      code: 0,
      out: `Server:\t\t${SERVICE_ADDRESS}\nAddress:\t${SERVICE_ADDRESS}:53\n\nName:\tkubernetes.default.svc.cluster.local\nAddress: 10.3.0.1\n\n`,
      err: '',
    },
    expect.objectContaining({ code: 0, out: expect.stringContaining('Address: 10.3.0.1\n') }),
    expect.objectContaining({
      code: 1,
      out: expect.stringContaining("** server can't find nothing: NXDOMAIN"),
    }),
    {
      code: 0,
      out: `10.3.0.1        kubernetes.default.svc.cluster.local\n${bind.host.padEnd(15)} web-0\n`,
      err: '',
    },
    {
      code: 0,
      out: '_https._tcp.kubernetes.default.svc.cluster.local has SRV record 0 100 443 kubernetes.default.svc.cluster.local.\n',
      err: '',
    },
    { code: 0, out: 'kubernetes.default.svc.cluster.local.\n', err: '' },
    expect.objectContaining({ code: 0, out: expect.stringContaining('name = kubernetes.default') }),
    { code: 6, out: '', err: 'curl: (6) Could not resolve host: nothing\n' },
    { code: 1, out: '', err: "wget: bad address 'nothing'\n" },
    // Containment: the name resolves, and its address is none of the cluster's networks.
    { code: 7, out: '', err: expect.stringContaining('(10.3.0.1): Network is unreachable') },
  ]);
});

test('nameservers beyond the networks of the cluster are not asked', async () => {
  const outside = await shellIn('nameserver 192.0.2.1\nnameserver 8.8.8.8\n')('nslookup example.com');
  expect([outside.code, outside.err]).toEqual([
    1,
    expect.stringContaining('8.8.8.8: Network is unreachable'),
  ]);
});
