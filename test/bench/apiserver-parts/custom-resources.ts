import type { LoadClient } from '../../support/api-load.ts';

/** What a bench of an API server offers its parts. */
export interface CustomBench {
  /** Requests per second. */
  load(
    name: string,
    clients: readonly LoadClient[],
    call: (client: LoadClient, n: number) => Promise<unknown>,
  ): Promise<number>;
  note(row: { readonly name: string; readonly value: number; readonly unit: string }): void;
  rssMib(): number;
}

const GROUP = 'bench.example.com';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const MANY = 500;
const PAUSE_MS = 2000;

const SPEC = {
  type: 'object',
  properties: {
    value: { type: 'string', maxLength: 100 },
    text: { type: 'string' },
    size: { type: 'integer', default: 1, minimum: 0 },
  },
  'x-kubernetes-validations': [{ rule: 'self.size >= 0' }],
};

const definition = (plural: string, schema: object = SPEC): string =>
  JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { plural, singular: plural, kind: `K${plural}`, listKind: `K${plural}List` },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: schema } } },
        },
      ],
    },
  });

/** Thirty fields with descriptions, as definitions of operators have them. */
const WIDE = {
  type: 'object',
  properties: Object.fromEntries(
    Array.from({ length: 30 }, (_unused, at) => [
      `field${at}`,
      { type: 'string', description: `What the field ${at} of the resource is for, in a sentence or two.` },
    ]),
  ),
};

const ask = async (
  client: LoadClient,
  code: number,
  request: { readonly method?: 'POST'; readonly path: string; readonly body?: string },
): Promise<string> => {
  const answer = await client.request(request);
  const text = answer.body.toString();
  if (answer.code !== code) throw new Error(`${answer.code}: ${text.slice(0, 300)}`);
  return text;
};

const untilServed = async (client: LoadClient, plural: string): Promise<void> => {
  for (;;) {
    const { code } = await client.request({ path: `/apis/${GROUP}/v1/namespaces/default/${plural}` });
    if (code === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

/** Custom objects beside ConfigMaps of the same size, and what hundreds of definitions cost. */
export const measureCustomResources = async (
  bench: CustomBench,
  clients: readonly LoadClient[],
): Promise<void> => {
  const [client] = clients as readonly [LoadClient, ...LoadClient[]];
  await ask(client, 201, { method: 'POST', path: DEFINITIONS, body: definition('loads') });
  await untilServed(client, 'loads');
  const loads = `/apis/${GROUP}/v1/namespaces/default/loads`;
  const data = { value: 'first', text: 'x'.repeat(200) };
  const custom = (name: string): string =>
    JSON.stringify({ apiVersion: `${GROUP}/v1`, kind: 'Kloads', metadata: { name }, spec: data });
  const builtIn = (name: string): string =>
    JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
  let made = 0;
  const creating =
    (path: string, body: (name: string) => string) =>
    (one: LoadClient): Promise<string> =>
      ask(one, 201, { method: 'POST', path, body: body(`bench-${(made += 1)}`) });
  const builtInCreates = await bench.load(
    'create of ConfigMaps, 64 clients',
    clients,
    creating(CONFIG_MAPS, builtIn),
  );
  const from = made;
  const customCreates = await bench.load(
    'create of custom objects, 64 clients',
    clients,
    creating(loads, custom),
  );
  bench.note({ name: 'custom creates / built-in', value: customCreates / builtInCreates, unit: 'x' });
  const few = clients.slice(0, 16);
  const builtInGets = await bench.load('get of ConfigMaps, 16 clients', few, (one, n) =>
    ask(one, 200, { path: `${CONFIG_MAPS}/bench-${(n % from) + 1}` }),
  );
  const customGets = await bench.load('get of custom objects, 16 clients', few, (one, n) =>
    ask(one, 200, { path: `${loads}/bench-${from + (n % (made - from)) + 1}` }),
  );
  bench.note({ name: 'custom gets / built-in', value: customGets / builtInGets, unit: 'x' });

  const beforeMib = bench.rssMib();
  const startedMs = performance.now();
  let next = 0;
  await Promise.all(
    few.map(async (one) => {
      for (next += 1; next <= MANY; next += 1)
        await ask(one, 201, { method: 'POST', path: DEFINITIONS, body: definition(`many${next}`, WIDE) });
    }),
  );
  await untilServed(client, `many${MANY}`);
  bench.note({ name: `${MANY} definitions established`, value: performance.now() - startedMs, unit: 'ms' });
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  bench.note({ name: `RSS grown by ${MANY} definitions`, value: bench.rssMib() - beforeMib, unit: 'MiB' });
  const askedMs = performance.now();
  const found = await ask(client, 200, { path: `/apis/${GROUP}/v1` });
  if (!found.includes(`"many${MANY}"`)) throw new Error('discovery lacks a definition');
  bench.note({ name: `discovery of ${MANY} definitions`, value: performance.now() - askedMs, unit: 'ms' });
};
