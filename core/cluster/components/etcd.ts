import { readFileSync } from 'node:fs';
import { readMemberConfig } from '../../etcd/config/config.ts';
import { ETCD_FLAGS } from '../../etcd/config/flags.ts';
import { configFileOf, readSettings } from '../../etcd/config/sources/settings.ts';
import { runMember } from '../../etcd/server/run-member.ts';
import { ETCD_VERSION } from '../../etcd/version.ts';
import type { Component } from './component.ts';

/** One etcd member. A failure of its disk ends it. */
export const etcd: Component = {
  name: 'etcd',
  flags: ETCD_FLAGS,
  versionText: `etcd Version: ${ETCD_VERSION}`,
  async settings(args, environment) {
    // The parser is a fifth of what a start would load, and hardly any member has a file.
    const parse = configFileOf(args, environment) === '' ? undefined : (await import('yaml')).parse;
    return readSettings(args, {
      environment,
      readFile: (path) => readFileSync(path, 'utf8'),
      parseYaml: (text) => parse?.(text) as unknown,
    });
  },
  logLevel: (args) => readMemberConfig(args).logLevel,
  async start(args, { log }) {
    const config = readMemberConfig(args);
    const running = await runMember(config, log);
    const { member } = running;
    log.write('info', 'ready to serve client requests', {
      name: config.name,
      'member-id': member.id.toString(16),
      'cluster-id': member.clusterId.toString(16),
      'client-urls': config.listenClients.map(({ url }) => url),
    });
    return running;
  },
};
