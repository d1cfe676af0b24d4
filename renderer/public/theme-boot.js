// Runs before the first paint, ahead of the module graph, so that a dark console never flashes light.
// The choice itself lives in the host's settings; stores/theme.ts mirrors it under this key.
(function () {
  var choice = 'system';
  try {
    choice = localStorage.getItem('pilothouse.theme') || 'system';
  } catch {
    choice = 'system'; // storage is refused: the system's preference stands
  }
  var dark = choice === 'dark' || (choice !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
})();
