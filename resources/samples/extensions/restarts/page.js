const EVERY_MS = 5000;
const PAGES_MAX = 10;
const state = document.getElementById('state');
const table = document.querySelector('table');
const body = document.querySelector('tbody');

const readPods = async () => {
  const pods = [];
  let token;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const list = await pilothouse.list('pods', token ? { continue: token } : {});
    pods.push(...list.items);
    token = list.metadata.continue;
    if (!token) break;
  }
  return pods;
};

const containersOf = ({ metadata, status }) =>
  (status?.containerStatuses ?? []).map(({ name, restartCount, lastState }) => ({
    namespace: metadata.namespace,
    pod: metadata.name,
    container: name,
    restarts: restartCount,
    exit: lastState?.terminated,
  }));

const cell = (...contents) => {
  const made = document.createElement('td');
  made.append(...contents);
  return made;
};

const rowOf = ({ namespace, pod, container, restarts, exit }) => {
  const link = document.createElement('button');
  link.textContent = `${namespace}/${pod}`;
  link.addEventListener('click', () => pilothouse.open('pods', pod, namespace));
  const why = cell(exit ? `${exit.reason} (${exit.exitCode})` : '');
  if (exit?.exitCode) why.className = 'bad';
  const row = document.createElement('tr');
  row.append(cell(link), cell(container), cell(String(restarts)), why);
  return row;
};

const show = async () => {
  try {
    // The newest: another namespace may have been chosen since.
    const { cluster, namespaces } = await pilothouse.context();
    const all = (await readPods()).flatMap(containersOf);
    const found = all
      .filter(({ namespace }) => namespaces.length === 0 || namespaces.includes(namespace))
      .sort((a, b) => b.restarts - a.restarts);
    const total = found.reduce((sum, { restarts }) => sum + restarts, 0);
    body.replaceChildren(...found.map(rowOf));
    table.hidden = found.length === 0;
    state.textContent = `${cluster}: ${found.length} containers, ${total} restarts`;
  } catch (error) {
    state.textContent = error.message;
  }
  setTimeout(show, EVERY_MS);
};

show();
