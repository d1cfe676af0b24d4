import { EXIT_OK, usageError, type Command, type CommandContext } from '../command.ts';

/** Runs one component in the foreground until the signal; rejects when it stops by itself. */
type Component = (args: readonly string[], context: CommandContext) => Promise<number>;

const COMPONENTS: Readonly<Record<string, () => Promise<Component>>> = {
  etcd: async () => (await import('./component-etcd.ts')).runEtcd,
  'kube-apiserver': async () => (await import('./component-kube-apiserver.ts')).runKubeApiServer,
  etcdutl: async () => (await import('./component-etcdutl.ts')).runEtcdutl,
};

const NAMES = Object.keys(COMPONENTS).join(' | ');

/** One component alone, with upstream's flags as they are, for who mixes ours with upstream's. */
export const component: Command = {
  usage: `  pilothouse component <${NAMES}> <upstream's flags>

  Runs one component in the foreground. --help lists its flags.`,
  async run([name, ...args], context) {
    if (name === undefined || name === '--help' || name === '-h') {
      context.print(component.usage);
      return EXIT_OK;
    }
    const load = Object.hasOwn(COMPONENTS, name) ? COMPONENTS[name] : undefined;
    if (load === undefined) throw usageError(`there is no component "${name}"; there is ${NAMES}`);
    return (await load())(args, context);
  },
};
