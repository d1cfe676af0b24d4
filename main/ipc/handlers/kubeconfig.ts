import { open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as v from 'valibot';
import { parseDocument } from 'yaml';
import { ReasonError } from '../../../core/base/errors.ts';
import { schemaFault, yamlFault } from '../../../core/base/parse-fault.ts';
import { configFrom, type ExecConfig } from '../../../core/client/index.ts';
import {
  type ClusterEntry,
  type ExecPlugin,
  type Said,
  SaidError,
  saidOf,
  say,
} from '../../../core/contract/index.ts';

const KUBECONFIG_BYTES_MAX = 1024 * 1024;
const CONTEXTS_PER_FILE_MAX = 1024;
/** A kubeconfig has no need of YAML aliases; this keeps an expanding one from filling memory. */
const YAML_ALIASES_MAX = 16;

const named = <K extends string, S extends v.GenericSchema>(key: K, schema: S) =>
  v.object({ name: v.string(), [key]: schema } as { name: v.StringSchema<undefined> } & Record<K, S>);

/** client-go reads an absent or null list as an empty one. */
const list = <S extends v.GenericSchema>(schema: S) => v.nullish(v.array(schema), []);

const kubeconfigSchema = v.object({
  kind: v.optional(v.literal('Config')),
  apiVersion: v.optional(v.literal('v1')),
  clusters: list(named('cluster', v.object({ server: v.optional(v.string(), '') }))),
  contexts: list(
    named(
      'context',
      v.object({
        cluster: v.string(),
        user: v.optional(v.string(), ''),
        namespace: v.optional(v.string(), 'default'),
      }),
    ),
  ),
});
type Kubeconfig = v.InferOutput<typeof kubeconfigSchema>;

export interface KubeconfigContexts {
  readonly clusters: readonly ClusterEntry[];
  /** What is wrong with the file, or with some of its contexts. */
  readonly problems: readonly Said[];
}

export const clusterId = (path: string, context: string): string => `${path}#${context}`;

const invalidYaml = (error: unknown): ReasonError =>
  new SaidError('BadRequest', say('failure.kubeconfig.yaml', { why: yamlFault(error) }));

const parseYaml = (text: string): unknown => {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error) throw invalidYaml(error);
  try {
    return document.toJS({ maxAliasCount: YAML_ALIASES_MAX });
  } catch (cause) {
    throw invalidYaml(cause);
  }
};

/** Messages name positions and fields of the file, never what stands there: the path may lead to any file. */
const checked = (value: unknown): Kubeconfig => {
  const parsed = v.safeParse(kubeconfigSchema, value);
  if (parsed.success) return parsed.output;
  throw new SaidError('BadRequest', say('failure.kubeconfig.schema', { why: schemaFault(parsed.issues) }));
};

/** The program that a context runs; undefined also for a context that cannot be used at all. */
const execOf = (file: unknown, context: string, folder: string): ExecConfig | undefined => {
  try {
    return configFrom(file as Readonly<Record<string, unknown>>, { context, folder }).auth.exec;
  } catch {
    return undefined;
  }
};

/**
 * The contexts a kubeconfig offers. What is wrong in one context does not hide the others. `pluginOf` says of a program
 * that one of them runs whether it may.
 */
export const contextsOf = (
  path: string,
  text: string,
  pluginOf: (exec: ExecConfig) => ExecPlugin,
): KubeconfigContexts => {
  let config: Kubeconfig;
  let file: unknown;
  try {
    file = parseYaml(text);
    config = checked(file);
  } catch (error) {
    return { clusters: [], problems: [saidOf(error)] };
  }
  const problems: Said[] = [];
  const servers = new Map(config.clusters.map(({ name, cluster }) => [name, cluster.server]));
  const clusters = new Map<string, ClusterEntry>();
  for (const { name, context } of config.contexts.slice(0, CONTEXTS_PER_FILE_MAX)) {
    const server = servers.get(context.cluster);
    if (server === undefined)
      problems.push(say('failure.kubeconfig.noCluster', { context: name, cluster: context.cluster }));
    else if (server === '') problems.push(say('failure.kubeconfig.noServer', { cluster: context.cluster }));
    else {
      const exec = execOf(file, name, dirname(path));
      clusters.set(name, {
        id: clusterId(path, name),
        name,
        origin: 'kubeconfig',
        server,
        user: context.user,
        namespace: context.namespace,
        kubeconfigPath: path,
        readOnly: true,
        local: null,
        ...(exec && { plugin: pluginOf(exec) }),
      });
    }
  }
  if (config.contexts.length === 0) problems.push(say('failure.kubeconfig.noContexts'));
  if (config.contexts.length > CONTEXTS_PER_FILE_MAX)
    problems.push(
      say('failure.kubeconfig.cut', { max: CONTEXTS_PER_FILE_MAX, count: config.contexts.length }),
    );
  return { clusters: [...clusters.values()], problems };
};

const SENTENCES: Readonly<Record<string, Said>> = {
  ENOENT: say('failure.kubeconfig.missing'),
  EACCES: say('failure.permissionDenied'),
};

/** Reads a file of a bounded size. Fails with `NotFound` or `BadRequest` and a sentence for the user. */
export const readKubeconfig = async (path: string): Promise<string> => {
  try {
    // Before it is opened: a pipe would wait for a writer, and a device has no end.
    if (!(await stat(path)).isFile()) throw new SaidError('BadRequest', say('failure.kubeconfig.notFile'));
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      if (size > KUBECONFIG_BYTES_MAX)
        throw new SaidError(
          'BadRequest',
          say('failure.kubeconfig.tooLarge', { bytes: KUBECONFIG_BYTES_MAX }),
        );
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof ReasonError) throw error;
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new SaidError(code === 'ENOENT' ? 'NotFound' : 'BadRequest', SENTENCES[code] ?? saidOf(error), {
      cause: error,
    });
  }
};
