import { parseFlags } from '../../base/flags.ts';
import { NEWEST_RELEASE } from '../../api/releases/index.ts';
import { readDnsConfig } from '../../dns/config/config.ts';
import { DNS_FLAGS } from '../../dns/config/flags.ts';
import { runDns } from '../../dns/run-dns.ts';
import type { Component } from './component.ts';
import { levelOf } from './verbosity.ts';

export const kubeDns: Component = {
  name: 'kube-dns',
  flags: DNS_FLAGS,
  versionText: `Kubernetes ${NEWEST_RELEASE}`,
  logLevel: (args) => levelOf(parseFlags(DNS_FLAGS, args).values.v),
  start: (args, { log }) => runDns(readDnsConfig(args), log),
};
