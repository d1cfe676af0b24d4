import http from 'node:http';
import { type Said, saidOf, say, verbatim } from '../../contract/index.ts';
import https from 'node:https';
import { messageOf } from '../../base/errors.ts';
import { LEASE, NODE, type Client } from '../../client/index.ts';
import { LEASE_NAMESPACE } from '../../kubelet/node/node-agent.ts';

/** Undefined when it is passed; else what is missing, for the person who waits. */
export type Gate = () => Promise<Said | undefined>;

const ANSWER_TIMEOUT_MS = 2_000;
const ANSWER_CHARS_MAX = 64 * 1024;

const firstFailure = (body: string): string =>
  body.split('\n').find((line) => line.startsWith('[-]')) ?? body.split('\n')[0] ?? '';

const ask = (
  url: string,
  agent: http.Agent | https.Agent,
): Promise<{ readonly status: number; readonly body: string }> =>
  new Promise((resolve, reject) => {
    const get = url.startsWith('https:') ? https.get : http.get;
    const request = get(url, { agent, timeout: ANSWER_TIMEOUT_MS }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        if (body.length < ANSWER_CHARS_MAX) body += text;
      });
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    request.once('timeout', () => request.destroy(new Error('no response in time')));
    request.once('error', reject);
  });

/** A URL that must answer 200. */
export const urlGate =
  (url: string, agent: http.Agent | https.Agent): Gate =>
  async () => {
    try {
      const { status, body } = await ask(url, agent);
      return status === 200 ? undefined : verbatim(`${url} returned ${status}: ${firstFailure(body)}`);
    } catch (error) {
      return verbatim(`${url}: ${messageOf(error)}`);
    }
  };

const guarded =
  (gate: Gate): Gate =>
  async () => {
    try {
      return await gate();
    } catch (error) {
      return saidOf(error);
    }
  };

/** Every node is Ready, and its lease was renewed since: what a kubelet said before the start proves nothing. */
export const nodesGate = (client: Client, names: readonly string[], sinceMs: number): Gate =>
  guarded(async () => {
    const [nodes, leases] = await Promise.all([
      client.resource(NODE).list({ resourceVersion: '0', timeoutMs: ANSWER_TIMEOUT_MS }),
      client.resource(LEASE, LEASE_NAMESPACE).list({ resourceVersion: '0', timeoutMs: ANSWER_TIMEOUT_MS }),
    ]);
    const renewed = new Set(
      leases.items
        .filter(({ spec }) => Date.parse(spec?.renewTime ?? '') >= sinceMs)
        .map(({ metadata }) => metadata.name),
    );
    const ready = new Set(
      nodes.items
        .filter(({ status }) =>
          status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
        )
        .map(({ metadata }) => metadata.name),
    );
    const missing = names.filter((name) => !ready.has(name) || !renewed.has(name));
    return missing.length === 0
      ? undefined
      : say('failure.notReady.nodes', {
          nodes:
            missing.length > 3
              ? say('found.more', { names: missing.slice(0, 3).join(', '), count: missing.length - 3 })
              : missing.join(', '),
        });
  });

/** Each of these leases in kube-system is held by somebody who has renewed it since. */
export const leadersGate = (client: Client, names: readonly string[], sinceMs: number): Gate =>
  guarded(async () => {
    const leases = await client.resource(LEASE, 'kube-system').list({ timeoutMs: ANSWER_TIMEOUT_MS });
    const held = new Set(
      leases.items
        .filter(({ spec }) => spec?.holderIdentity && Date.parse(spec.renewTime ?? '') >= sinceMs)
        .map(({ metadata }) => metadata.name),
    );
    const missing = names.filter((name) => !held.has(name));
    return missing.length === 0 ? undefined : say('failure.noLeader', { components: missing.join(', ') });
  });
