import type { Random } from '../../base/random.ts';
import type { V1Container, V1Pod } from '../../api/schema/index.ts';
import { SIMULATION_PREFIX } from '../runtimes/simulated/behaviour.ts';

/** Pieces that parsers of paths, scripts, quantities and names have stumbled over, here or elsewhere. */
const PIECES = [
  '',
  ' ',
  '/',
  '//',
  '///',
  '..',
  '.',
  '%',
  '%2',
  '%zz',
  '%00',
  '\0',
  '\n',
  '\r\n',
  '\t',
  '\\',
  '"',
  "'",
  '`',
  '$',
  '$$',
  '$(',
  '$(A)',
  '$(B)',
  '${A:-',
  '${',
  '}',
  '$((',
  '))',
  '(',
  ')',
  '((',
  '{',
  '[',
  ']',
  '[[',
  '<',
  '>',
  '>>',
  '>&',
  '2>&1',
  '|',
  '||',
  '&',
  '&&',
  ';',
  ';;',
  '#',
  '!',
  '*',
  '?',
  '~',
  '=',
  ':',
  '@',
  '@sha256:',
  'a',
  'A',
  '0',
  '-1',
  '1e9',
  '1e999',
  '9223372036854775808',
  'NaN',
  'Infinity',
  '1Ki',
  '100m',
  '0.5',
  '10s',
  '1000000h',
  '-5s',
  'true',
  'false',
  'never',
  'http://',
  'http://[',
  'https://x:y@z:0/',
  'constructor',
  '__proto__',
  'toString',
  'nosuch',
  '\u2028',
  '\ud800',
  '😀',
  '\x1b[2J',
  'x'.repeat(300),
  'a.'.repeat(200),
  '/'.repeat(300),
  'Transfer-Encoding',
  'Content-Length',
  'localhost',
  '127.0.0.1',
  '0.0.0.0',
  '::1',
  '/etc/hosts',
  '/dev/null',
  '/tmp/f',
  '-',
] as const;

const WORDS = [
  'echo',
  'cat',
  'sh',
  '-c',
  'while',
  'do',
  'done',
  'true',
  'false',
  'for',
  'in',
  'if',
  'then',
  'fi',
  'else',
  'elif',
  'until',
  'exit',
  'break',
  'continue',
  'read',
  'export',
  'A=1',
  'A=$A$A',
  'unset',
  'cd',
  'seq',
  '1',
  '99999',
  'head',
  '-n',
  'tail',
  'grep',
  'sort',
  'wc',
  'tee',
  'base64',
  '-d',
  'printf',
  '%s%d%x\\n',
  'test',
  '[',
  '-f',
  '!',
  'exec',
  'command',
  '-v',
  'set',
  'trap',
  'wait',
  'mkdir',
  'rm',
  '-rf',
  'cp',
  'ls',
  '-la',
  'touch',
  'date',
  '+%F%T',
  'env',
  'nslookup',
  'id',
  'hostname',
  'kill',
] as const;

/** Text of the same seed is the same everywhere. */
export const hostileText = (random: Random, piecesMax = 4): string => {
  let text = '';
  for (let i = 1 + random.below(piecesMax); i > 0; i -= 1) text += PIECES[random.below(PIECES.length)]!;
  return text;
};

export const hostileScript = (random: Random): string =>
  Array.from({ length: 1 + random.below(14) }, () =>
    random.below(3) === 0 ? PIECES[random.below(PIECES.length)]! : WORDS[random.below(WORDS.length)]!,
  ).join(random.below(4) === 0 ? '' : ' ');

const ANNOTATIONS =
  'start-delay pull-delay exit-code exit-after crash-after not-ready startup-time unhealthy-after logs log-interval cpu memory stop-delay'.split(
    ' ',
  );

const hostileHandler = (random: Random) => {
  const text = () => hostileText(random);
  const port = () => (random.below(2) === 0 ? text() : random.below(70_000) - 2_000);
  switch (random.below(4)) {
    case 0:
      return {
        httpGet: {
          port: port(),
          path: text(),
          ...(random.below(2) === 0 && { host: text() }),
          scheme: random.below(2) === 0 ? 'HTTPS' : 'HTTP',
          httpHeaders: [{ name: text(), value: text() }],
        },
      };
    case 1:
      return { tcpSocket: { port: port(), ...(random.below(2) === 0 && { host: text() }) } };
    case 2:
      return { exec: { command: [text(), text()] } };
    default:
      return { grpc: { port: random.below(70_000), service: text() } };
  }
};

const hostileContainer = (random: Random): V1Container => {
  const text = () => hostileText(random);
  const probe = () => ({
    ...hostileHandler(random),
    periodSeconds: random.below(5),
    timeoutSeconds: random.below(3),
    failureThreshold: random.below(3),
  });
  return {
    name: 'app',
    image: random.below(4) === 0 ? text() : 'nginx:1',
    command: random.below(2) === 0 ? ['sh', '-c', hostileScript(random)] : [text(), text()],
    env: [
      { name: text(), value: text() },
      { name: 'A', value: text() },
      { name: 'B', value: '$(A)$(A)' },
      {
        name: 'C',
        valueFrom: {
          fieldRef: {
            fieldPath: `metadata.${random.below(2) === 0 ? 'labels' : 'annotations'}['${text()}']`,
          },
        },
      },
      { name: 'D', valueFrom: { resourceFieldRef: { resource: `limits.${text()}`, divisor: text() } } },
    ].slice(0, random.below(6)),
    volumeMounts: [{ name: 'v', mountPath: text(), subPath: text(), readOnly: random.below(2) === 0 }],
    resources: { limits: { [text()]: text() }, requests: { cpu: text() } },
    ...(random.below(2) === 0 && { livenessProbe: probe() }),
    ...(random.below(2) === 0 && { readinessProbe: probe() }),
    ...(random.below(3) === 0 && { startupProbe: probe() }),
    ...(random.below(3) === 0 && {
      lifecycle: { postStart: hostileHandler(random), preStop: hostileHandler(random) },
    }),
  } as V1Container;
};

/** A pod of which every field that the kubelet interprets is hostile; validation would refuse much of it. */
export const hostilePod = (random: Random, index: number): V1Pod => {
  const text = () => hostileText(random);
  const annotations = Object.fromEntries(
    ANNOTATIONS.filter(() => random.below(4) === 0).map((name) => [SIMULATION_PREFIX + name, text()]),
  );
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `hostile-${index}`,
      namespace: 'default',
      uid: `uid-${index}`,
      annotations,
      labels: { [text()]: text() },
    },
    spec: {
      nodeName: 'n1',
      restartPolicy: ['Always', 'OnFailure', 'Never', text()][random.below(4)]!,
      terminationGracePeriodSeconds: random.below(3),
      ...(random.below(4) === 0 && { activeDeadlineSeconds: random.below(2_000) - 500 }),
      hostname: text(),
      subdomain: text(),
      hostAliases: [{ ip: text(), hostnames: [text()] }],
      volumes: [
        [
          { name: 'v', emptyDir: {} },
          {
            name: 'v',
            configMap: { name: text(), optional: random.below(2) === 0, defaultMode: random.below(2 ** 31) },
          },
          { name: 'v', downwardAPI: { items: [{ path: text(), fieldRef: { fieldPath: text() } }] } },
          { name: text(), secret: { secretName: text(), items: [{ key: text(), path: text() }] } },
        ][random.below(4)]!,
      ],
      containers: [hostileContainer(random)],
      ...(random.below(4) === 0 && { initContainers: [{ ...hostileContainer(random), name: 'init' }] }),
    },
  };
};
