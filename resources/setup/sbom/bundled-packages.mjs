const PACKAGE = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;

/** The package that a module belongs to; undefined for one of ours. Nested packages count by their own name. */
export const packageOfModule = (id) => PACKAGE.exec(id.replaceAll('\\', '/').replace(/^\0/, ''))?.[1];

/** Notes the packages of every chunk that is written. Give it to each build, and to its workers. */
export const bundledPackages = () => {
  const names = new Set();
  return {
    names: () => [...names].sort(),
    plugin: {
      name: 'bundled-packages',
      generateBundle(_options, bundle) {
        for (const { moduleIds = [] } of Object.values(bundle))
          for (const id of moduleIds) {
            const name = packageOfModule(id);
            if (name !== undefined) names.add(name);
          }
      },
    },
  };
};
