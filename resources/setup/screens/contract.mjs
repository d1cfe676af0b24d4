/** Calls of the contract, sent by the page itself: it is signed in, and the data folder has no other door. */

/** Opens a socket for each call: the pages between two calls are many, and each forgets its sockets. */
export const callContract = async (page, name, input) => {
  const answer = await page.evaluate(
    ({ name, input }) =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(`wss://${location.host}/contract`);
        socket.addEventListener('error', () => reject(new Error('the contract cannot be reached')));
        socket.addEventListener('open', () =>
          socket.send(JSON.stringify({ kind: 'call', id: 2_000_001, name, input })),
        );
        socket.addEventListener('message', ({ data }) => {
          const message = JSON.parse(String(data));
          if (message.id !== 2_000_001) return;
          socket.close();
          resolve(message);
        });
      }),
    { name, input },
  );
  if (answer.kind === 'result') return answer.value;
  throw new Error(`${name}: ${answer.failure?.message}`);
};

const WAIT_MS = 500;

/** Asks again until there is an answer. */
export const until = async (what, probe, limitMs = 180_000) => {
  const endsAtMs = Date.now() + limitMs;
  for (;;) {
    const value = await probe();
    if (value) return value;
    if (Date.now() > endsAtMs) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
};

export const clusterNamed = async (page, test) =>
  (await callContract(page, 'clusters.list', undefined)).clusters.find(test);

export const applyTo = async (page, cluster, objects) => {
  for (const object of objects) {
    const answer = await callContract(page, 'kube.apply', {
      cluster,
      dryRun: false,
      force: true,
      fieldManager: 'screenshots',
      defaultNamespace: 'default',
      object,
    });
    if (answer.refusal) throw new Error(`${object.kind} ${object.metadata.name}: ${answer.refusal.message}`);
  }
};
