import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificates } from '../support/etcd-certificates.ts';
import { EtcdCluster } from '../support/etcd-cluster.ts';
import { etcdctlFor, type CtlOutcome, type Etcdctl } from '../support/etcd-ctl.ts';
import type { ParityStep } from './etcdctl-parity-steps.ts';

/** One etcd under the script: what it has named so far, under names that do not depend on its random numbers. */
class Side {
  readonly #ids = new Map<string, string>();
  readonly #captured = new Map<string, string>();
  readonly #ctl: Etcdctl;
  readonly #directory: string;

  constructor(cluster: EtcdCluster) {
    const { certificates, directory } = cluster.options;
    this.#directory = directory;
    this.#ctl = etcdctlFor(() => cluster.endpoints, certificates);
  }

  async run({ args, input, capture, isUnordered }: ParityStep): Promise<CtlOutcome> {
    const given = args.map((arg) => this.#filled(arg));
    const { code, stdout, stderr } = await this.#ctl.run(given, input === undefined ? {} : { input });
    for (const [name, pattern] of Object.entries(capture ?? {}))
      this.#captured.set(name, pattern.exec(stdout)?.[1] ?? '');
    const said = this.#normalised(stdout);
    return {
      code,
      stdout: isUnordered
        ? said
            .split(/[\n",:{}[\]]+/)
            .sort()
            .join('\n')
        : said,
      stderr: this.#normalised(stderr),
    };
  }

  #filled(arg: string): string {
    return arg
      .replace('<directory>', this.#directory)
      .replace(/<(\w+)>/g, (whole, name: string) => this.#captured.get(name) ?? whole);
  }

  /** Ids become their order of appearance, so that the same id in two answers is still compared. */
  #normalised(text: string): string {
    return (
      text
        .replaceAll(this.#directory, '<directory>')
        .replace(/127\.\d+\.0\.\d+/g, '<host>')
        // Members are in the order of their ids, and the id of one that is added is random.
        .replace(/(?<=ETCD_INITIAL_CLUSTER=")[^"]*/g, (members) => members.split(',').sort().join(','))
        .replace(/("(?:\w*_id|id|\w*ID|[lL]ease)"\s?:\s?)(\d+)/g, (_whole, label: string, id: string) =>
          label.concat(this.#nameOf(BigInt(id).toString(16))),
        )
        .replace(/ *\b[0-9a-f]{12,16}\b/g, (id) => ` ${this.#nameOf(id.trim().replace(/^0+/, ''))}`)
        .replace(/("raft_term":|"RaftTerm" : )\d+/g, '$1<term>')
        // Of the 1000 seconds that the script grants; it takes a few to run, and more on a busy machine.
        .replace(/(remaining\(|"TTL" : |"ttl":)(?:[6-9]\d\d|1000)/g, '$1<rest>')
        .replace(/(took"?(?: =|:) ?"?)[\d.]+\S*s\b/g, '$1<time>')
    );
  }

  #nameOf(id: string): string {
    if (id === '0') return id;
    const known = this.#ids.get(id);
    if (known !== undefined) return known;
    const name = `<id ${this.#ids.size + 1}>`;
    this.#ids.set(id, name);
    return name;
  }
}

export const titleOf = ({ args, input }: ParityStep): string => {
  const line = args
    .map((arg) => (arg === '' ? "''" : arg.length > 40 ? `${arg.slice(0, 40)}...` : arg))
    .join(' ');
  return input === undefined ? line : `${line} < ${JSON.stringify(input)}`;
};

export interface BothOutcomes {
  readonly ours: CtlOutcome;
  readonly real: CtlOutcome;
}

/** Runs a script against a member of ours and a real etcd, step by step side by side, and stops them. */
export const runOnBoth = async (
  steps: readonly ParityStep[],
  octets: { readonly ours: number; readonly real: number },
  extraFlags: readonly string[] = [],
): Promise<readonly BothOutcomes[]> => {
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-both-'));
  const start = (flavour: 'pilothouse' | 'etcd', octet: number): EtcdCluster => {
    const cluster = new EtcdCluster({
      flavour,
      size: 1,
      octet,
      directory: join(directory, flavour),
      certificates: makeCertificates(join(directory, `${flavour}-pki`), octet),
      extraFlags,
    });
    cluster.start();
    return cluster;
  };
  const clusters = [start('pilothouse', octets.ours), start('etcd', octets.real)] as const;
  try {
    await Promise.all(clusters.map((cluster) => cluster.healthy()));
    const [ourSide, realSide] = [new Side(clusters[0]), new Side(clusters[1])];
    const outcomes: BothOutcomes[] = [];
    for (const step of steps) {
      const [ours, real] = await Promise.all([ourSide.run(step), realSide.run(step)]);
      outcomes.push({ ours, real });
    }
    return outcomes;
  } finally {
    await Promise.all(clusters.map((cluster) => cluster.stop()));
    rmSync(directory, { recursive: true, force: true });
  }
};
