import type * as Monaco from 'monaco-editor/editor';

type Theme = 'light' | 'dark';
export const themeName = (theme: Theme): string => `pilothouse-${theme}`;

/** The editor wants six or eight hexadecimal digits; a build shortens colours, and what is see-through is rgb(). */
export const hex = (value: string): string => {
  if (/^#[\da-f]{3,4}$/i.test(value)) return value.replaceAll(/[\da-f]/gi, '$&$&');
  const [red, green, blue, alpha] = value.match(/[\d.]+/g)?.map(Number) ?? [];
  if (value.startsWith('#') || red === undefined) return value;
  const parts = [red, green ?? 0, blue ?? 0, ...(alpha === undefined ? [] : [Math.round(alpha * 255)])];
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
};

/** Tokens are read from an element of the theme, so that both themes are known at the same time. */
const tokensOf = (theme: Theme): ((name: string) => string) => {
  const root = document.documentElement;
  const before = root.dataset['theme'];
  root.dataset['theme'] = theme;
  const style = getComputedStyle(root);
  const names = [
    'surface-card',
    'surface-raised',
    'surface-sunken',
    'surface-hover',
    'surface-selected',
    'border',
    'border-strong',
    'text',
    'text-faint',
    'text-strong',
    'accent',
    'accent-text',
    'accent-border',
    'warn-text',
    'pending-text',
    'ok-text',
    'error',
    'warn',
    'ok-soft',
    'error-soft',
    'focus',
  ];
  const values = new Map(names.map((name) => [name, hex(style.getPropertyValue(`--${name}`).trim())]));
  if (before === undefined) delete root.dataset['theme'];
  else root.dataset['theme'] = before;
  return (name) => values.get(name) ?? '';
};

export const defineThemes = (monaco: typeof Monaco): void => {
  for (const theme of ['light', 'dark'] as const) {
    const token = tokensOf(theme);
    const plain = (name: string): string => token(name).replace('#', '');
    monaco.editor.defineTheme(themeName(theme), {
      base: theme === 'light' ? 'vs' : 'vs-dark',
      inherit: true,
      rules: [
        { token: '', foreground: plain('text') },
        { token: 'type', foreground: plain('accent-text') },
        // With the language too: the base theme has rules of its own for it, and the longest name wins.
        { token: 'string', foreground: plain('warn-text') },
        { token: 'string.yaml', foreground: plain('warn-text') },
        { token: 'number', foreground: plain('pending-text') },
        { token: 'number.yaml', foreground: plain('pending-text') },
        { token: 'keyword', foreground: plain('pending-text') },
        { token: 'comment', foreground: plain('text-faint') },
        { token: 'operators', foreground: plain('text-faint') },
      ],
      colors: {
        'editor.background': token('surface-card'),
        'editor.foreground': token('text'),
        'editorLineNumber.foreground': token('text-faint'),
        'editorLineNumber.dimmedForeground': token('text-faint'),
        'editorLineNumber.activeForeground': token('text-strong'),
        'editor.lineHighlightBackground': token('surface-hover'),
        'editor.lineHighlightBorder': token('surface-hover'),
        'editor.selectionBackground': token('surface-selected'),
        'editor.wordHighlightBackground': token('surface-selected'),
        'editor.wordHighlightStrongBackground': token('surface-selected'),
        'editor.wordHighlightTextBackground': token('surface-selected'),
        'editor.selectionHighlightBackground': token('surface-selected'),
        'editorOverviewRuler.wordHighlightForeground': token('accent-border'),
        'editorOverviewRuler.wordHighlightTextForeground': token('accent-border'),
        'editorOverviewRuler.selectionHighlightForeground': token('accent-border'),
        'editorCursor.foreground': token('accent'),
        'editorWidget.background': token('surface-raised'),
        'editorWidget.border': token('border'),
        'editorSuggestWidget.background': token('surface-raised'),
        'editorSuggestWidget.border': token('border'),
        'editorSuggestWidget.selectedBackground': token('surface-selected'),
        'editorSuggestWidget.selectedForeground': token('text-strong'),
        'editorSuggestWidget.highlightForeground': token('accent-text'),
        'editorSuggestWidget.focusHighlightForeground': token('accent-text'),
        'editorSuggestWidget.selectedIconForeground': token('text-strong'),
        'editorHoverWidget.background': token('surface-raised'),
        'editorHoverWidget.border': token('border'),
        'editorIndentGuide.background1': token('border'),
        'editorError.foreground': token('error'),
        'editorWarning.foreground': token('warn'),
        focusBorder: token('focus'),
      },
    });
  }
};
